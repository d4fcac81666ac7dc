import { Link } from "wouter";
import type { Sequence, SequenceReport } from "../../api/schema";
import { CsvButton } from "../../ui/CsvButton";
import { Figure, Figures, Rate } from "../../ui/Figure";
import { List } from "../../ui/List";
import { Card, NotSet } from "../../ui/Page";
import { Empty } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber, percent } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import { graphOf, order, stepOf } from "./graph";
import css from "./Report.module.css";
import { ReportDays } from "./ReportDays";
import { kindOf, type Names, nameOfKind, titleOf } from "./steps";
import { to } from "../../base/paths";

const words = catalogue("sequences.report", {
	totals: "Everybody who entered",
	enrolled: "Entered",
	enrolledAbout: "How often contacts entered the sequence. A contact that came back counts again.",
	active: "Inside now",
	activeAbout: "People who have not reached an end yet, including while the sequence is paused.",
	completed: "Completed",
	completedAbout: "People who reached the end of a path.",
	converted: "Converted",
	convertedAbout: "People who reached a goal.",
	exited: "Left early",
	exitedAbout:
		"People who left before the end without reaching a goal: unsubscribed, bounced, by an exit condition or removed manually.",
	of: "of",
	sum: "{part, number} ÷ {of, number} who entered",
	steps: "How far people got",
	stepsSentence:
		"{count, plural, =0 {Nobody has entered yet.} other {The step that fewest people reached: {title}, {share} of those who entered.}}",
	step: "Step",
	entered: "Entered",
	here: "Here now",
	went: "Moved on",
	sent: "Sent",
	delivered: "Delivered",
	opened: "Opened",
	clicked: "Clicked",
	bounced: "Bounced",
	unsubscribed: "Unsubscribed",
	table: "Step by step",
	none: "Nobody has entered yet",
	noneText: "Once people go through, you see here how many reached each step and what happened to each email.",
	bar: "{title}: {count, plural, one {# person} other {# people}}, {share}",
});

/** Report shows the numbers of a sequence and of each of its steps. */
export default function Report({
	sequence,
	report,
	names,
}: {
	sequence: Sequence;
	report: SequenceReport;
	names: Names;
}) {
	if (report.enrolled === 0) return <Empty title={words.none}>{words.noneText}</Empty>;
	const graph = graphOf(sequence);
	const countsByStep = new Map(report.nodes.map((node) => [node.node_id, node]));
	const rows = order(graph).flatMap((id) => {
		const counts = countsByStep.get(id);
		const step = stepOf(graph, id);
		return counts && step ? [{ ...counts, step, title: titleOf(step, names, graph) }] : [];
	});
	const people = to.sequence(sequence.id, { tab: "people" });
	const smallest = rows.reduce((a, b) => (b.entered < a.entered ? b : a), rows[0] ?? { title: "", entered: 0 });
	const share = (count: number) => percent(count / report.enrolled);
	const mail = (row: (typeof rows)[number], v: number) => (row.step.type === "send" ? exactNumber(v) : <NotSet />);
	const exitedOtherwise = report.exited - report.converted;
	return (
		<>
			<Card title={words.totals}>
				<Figures>
					<Figure
						name={words.enrolled}
						value={exactNumber(report.enrolled)}
						description={{ definition: words.enrolledAbout, people }}
					/>
					<Figure
						name={words.active}
						value={exactNumber(report.active)}
						description={{ definition: words.activeAbout, people: `${people}&status=active,paused` }}
					/>
					<Rate
						name={words.completed}
						part={report.completed}
						total={report.enrolled}
						totalName={words.of}
						description={{
							definition: words.completedAbout,
							sum: words.sum({ part: report.completed, of: report.enrolled }),
							people: `${people}&status=completed`,
						}}
					/>
					<Rate
						name={words.converted}
						part={report.converted}
						total={report.enrolled}
						totalName={words.of}
						description={{
							definition: words.convertedAbout,
							sum: words.sum({ part: report.converted, of: report.enrolled }),
							people: `${people}&status=exited`,
						}}
					/>
					<Rate
						name={words.exited}
						part={exitedOtherwise}
						total={report.enrolled}
						totalName={words.of}
						description={{
							definition: words.exitedAbout,
							sum: words.sum({ part: exitedOtherwise, of: report.enrolled }),
							people: `${people}&status=exited`,
						}}
					/>
				</Figures>
			</Card>
			<Card title={words.steps}>
				<figure className={css.bars}>
					<figcaption>
						{words.stepsSentence({ count: rows.length, title: smallest.title, share: share(smallest.entered) })}
					</figcaption>
					<ul>
						{rows.map((row) => (
							<li
								key={row.node_id}
								aria-label={words.bar({ title: row.title, count: row.entered, share: share(row.entered) })}
							>
								<span className={css.title}>{row.title}</span>
								<span className={css.track} aria-hidden>
									<span style={{ inlineSize: `${Math.min(100, (100 * row.entered) / report.enrolled)}%` }} />
								</span>
								<span className={css.count}>
									{exactNumber(row.entered)} <small>{share(row.entered)}</small>
								</span>
							</li>
						))}
					</ul>
				</figure>
			</Card>
			<ReportDays sequence={sequence} />
			<Card
				title={words.table}
				actions={
					<CsvButton
						name={sequence.name}
						header={[
							"node_id",
							"type",
							"entered",
							"waiting",
							"completed",
							"sent",
							"delivered",
							"opened",
							"clicked",
							"bounced",
							"unsubscribed",
						]}
						rows={rows.map((row) => [
							row.node_id,
							row.step.type,
							row.entered,
							row.waiting,
							row.completed,
							row.sent,
							row.delivered,
							row.opened,
							row.clicked,
							row.bounced,
							row.unsubscribed,
						])}
					/>
				}
			>
				<List
					label={words.table}
					rows={rows}
					rowKey={(row) => row.node_id}
					columns={[
						{
							id: "step",
							name: words.step,
							cell: (row) => (
								<Link
									href={to.sequence(sequence.id, { node: row.node_id })}
									title={nameOfKind(kindOf(row.step).id).name}
								>
									{row.title}
								</Link>
							),
						},
						{
							id: "entered",
							name: words.entered,
							description: term("entered").definition,
							end: true,
							cell: (row) => exactNumber(row.entered),
						},
						{
							id: "here",
							name: words.here,
							description: term("here").definition,
							end: true,
							cell: (row) =>
								row.waiting > 0 ? (
									<Link href={`${people}&at=${row.node_id}`}>{exactNumber(row.waiting)}</Link>
								) : (
									exactNumber(0)
								),
						},
						{
							id: "went",
							name: words.went,
							description: term("wentOn").definition,
							end: true,
							cell: (row) => exactNumber(row.completed),
						},
						{
							id: "sent",
							name: words.sent,
							description: term("sent").definition,
							end: true,
							cell: (row) => mail(row, row.sent),
						},
						{
							id: "delivered",
							name: words.delivered,
							description: term("delivered").definition,
							end: true,
							cell: (row) => mail(row, row.delivered),
						},
						{
							id: "opened",
							name: words.opened,
							description: term("opened").definition,
							end: true,
							cell: (row) => mail(row, row.opened),
						},
						{
							id: "clicked",
							name: words.clicked,
							description: term("clicked").definition,
							end: true,
							cell: (row) => mail(row, row.clicked),
						},
						{
							id: "bounced",
							name: words.bounced,
							description: term("bounced").definition,
							end: true,
							cell: (row) => mail(row, row.bounced),
						},
						{
							id: "unsubscribed",
							name: words.unsubscribed,
							description: term("unsubscribed").definition,
							end: true,
							cell: (row) => mail(row, row.unsubscribed),
						},
					]}
				/>
			</Card>
		</>
	);
}

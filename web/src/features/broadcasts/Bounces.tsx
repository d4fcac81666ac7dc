import { useInfiniteQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { Link } from "wouter";
import { api } from "../../api/client";
import type { BounceRow, BroadcastSessionView } from "../../api/schema";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { CsvButton } from "../../ui/CsvButton";
import { Figure, Figures } from "../../ui/Figure";
import { List } from "../../ui/List";
import { Card } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import { replyOf } from "../../base/words/replies";
import css from "./Report.module.css";
import { useExport } from "./useExport";
import { bouncesQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("broadcasts.bounces", {
	kinds: "Kinds",
	hard: "Hard bounces: the address does not exist",
	soft: "Soft bounces: temporary",
	block: "Blocked: by policy or reputation",
	rows: "Bounced emails",
	who: "Address",
	kind: "Kind",
	words: "What the server said",
	when: "When",
	none: "No emails bounced",
	more: "More",
	hardWord: "Hard",
	softWord: "Soft",
	where: "Where and why",
	domains: "By domain",
	domain: "Domain",
	codes: "By code",
	code: "Code",
	count: "Emails",
	first: "{count, plural, one {The latest one is shown.} other {The latest # are shown.}}",
	csv: "CSV",
	csvLabel: "Download bounced emails as CSV",
});

/** Bounces lists the mail that servers returned, with their words. */
export default function Bounces({ broadcast }: { broadcast: BroadcastSessionView }) {
	const id = broadcast.id;
	const query = useInfiniteQuery(bouncesQuery(id));
	const summary = query.data?.pages[0]?.summary;
	const file = useExport<BounceRow>({
		broadcast,
		subject: "bounces",
		query: {},
		total: summary && summary.hard + summary.soft + summary.block,
		read: (cursor) =>
			api("GET /broadcasts/{broadcast_id}/bounces", {
				path: { broadcast_id: id },
				query: { cursor: cursor ?? undefined, limit: 200 },
			}),
		fields: ["contact_id", "email", "type", "category", "smtp_code", "enhanced_code", "message", "bounced_at"],
	});
	if (query.isPending) return <Skeleton rows={8} />;
	if (query.isError) return <Failure error={query.error} retry={() => void query.refetch()} />;
	const rows = query.data.pages.flatMap((page) => page.data);
	if (rows.length === 0) return <Empty title={words.none} />;
	return (
		<>
			{summary && (
				<Card title={words.kinds}>
					<Figures>
						<Figure
							name={words.hard}
							description={{ definition: term("bouncedHard").definition }}
							value={exactNumber(summary.hard)}
						/>
						<Figure
							name={words.soft}
							description={{ definition: term("bouncedSoft").definition }}
							value={exactNumber(summary.soft)}
						/>
						<Figure
							name={words.block}
							description={{ definition: term("bouncedBlock").definition }}
							value={exactNumber(summary.block)}
						/>
					</Figures>
				</Card>
			)}
			{summary && (summary.by_domain.length > 0 || summary.by_code.length > 0) && (
				<Card title={words.where}>
					<div className={css.halves}>
						<Counts
							title={words.domains}
							report={broadcast.name}
							column={words.domain}
							rows={summary.by_domain.map((row) => [row.domain, row.count])}
						/>
						<Counts
							title={words.codes}
							report={broadcast.name}
							column={words.code}
							rows={summary.by_code.map((row) => [String(row.code), row.count])}
						/>
					</div>
				</Card>
			)}
			<Card
				title={words.rows}
				actions={
					<Button
						small
						variant="quiet"
						icon={<Download aria-hidden size={14} />}
						aria-label={words.csvLabel}
						busy={file.busy}
						disabledReason={file.disabledReason}
						onClick={file.save}
					>
						{words.csv}
					</Button>
				}
			>
				<List
					label={words.rows}
					rows={rows}
					rowKey={(bounce) => bounce.contact_id + bounce.bounced_at}
					columns={[
						{
							id: "who",
							name: words.who,
							cell: (bounce) => <Link href={to.recipient(id, bounce.contact_id)}>{bounce.email}</Link>,
						},
						{
							id: "kind",
							beside: true,
							name: words.kind,
							cell: (bounce) => (
								<Badge tone={bounce.type === "hard" ? "danger" : "warning"}>
									{bounce.type === "hard" ? words.hardWord : words.softWord}
								</Badge>
							),
						},
						{
							id: "words",
							name: words.words,
							cell: (bounce) => (
								<span className={css.url}>{replyOf(bounce.smtp_code, bounce.enhanced_code, bounce.message)}</span>
							),
						},
						{ id: "when", name: words.when, cell: (bounce) => <Time at={bounce.bounced_at} /> },
					]}
				/>
				{query.hasNextPage && <p className={css.muted}>{words.first({ count: rows.length })}</p>}
				{query.hasNextPage && (
					<div>
						<Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
							{words.more}
						</Button>
					</div>
				)}
			</Card>
		</>
	);
}

function Counts({
	title,
	report,
	column,
	rows,
}: {
	title: string;
	report: string;
	column: string;
	rows: [string, number][];
}) {
	return (
		<div>
			<div className={css.heading}>
				<h3>{title}</h3>
				<CsvButton name={`${report} bounces ${title}`} header={[column.toLowerCase(), "count"]} rows={rows} />
			</div>
			<List
				label={title}
				rows={rows}
				rowKey={([name]) => name}
				columns={[
					{ id: "name", name: column, cell: ([name]) => name },
					{
						id: "count",
						name: words.count,
						description: term("bounceCount").definition,
						end: true,
						cell: ([, count]) => exactNumber(count),
					},
				]}
			/>
		</div>
	);
}

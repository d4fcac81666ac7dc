import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { FormRow, FormSubmission } from "../../api/schema";
import { useParam } from "../../base/params";
import { StateBadge } from "../../ui/Badge";
import { LinkButton } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Facts, NotSet } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { Table } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { useLoadMore } from "../../ui/useLoadMore";
import { catalogue } from "../../base/words/catalogue";
import { exact } from "../../base/words/formats";
import rowsCss from "../../ui/Rows.module.css";
import own from "./Form.module.css";
import { submissionsQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("forms.submissions", {
	title: "Submissions",
	who: "Address",
	outcome: "Outcome",
	at: "Submitted",
	page: "Page",
	erased: "Erased",
	empty: "No submissions yet",
	emptyText: "Submissions are listed here with their result: accepted, waiting for confirmation, or spam.",
	embed: "Get code for your page",
	one: "Submission of {who}",
	contact: "Open contact",
	confirmed: "Confirmed",
	ip: "IP address",
	agent: "Browser",
	answers: "Answers",
	consents: "Consents given",
	none: "None",
});

const textOf = (value: unknown) => (Array.isArray(value) ? value.join(", ") : String(value ?? ""));

/** Submissions lists what visitors sent, newest first. */
export function Submissions({ form }: { form: FormRow }) {
	const [open, setOpen] = useParam("submission");
	const list = useInfiniteQuery(submissionsQuery(form.id));
	const onEnd = useLoadMore(list);
	if (list.isPending) return <Skeleton rows={8} height={36} />;
	if (list.isError) return <Failure error={list.error} retry={() => void list.refetch()} />;
	const rows = list.data.pages.flatMap((page) => page.data);
	if (rows.length === 0) {
		return (
			<Empty
				title={words.empty}
				action={<LinkButton to={to.form(form.id, { tab: "embed" })}>{words.embed}</LinkButton>}
			>
				{words.emptyText}
			</Empty>
		);
	}
	const submitterOf = (submission: FormSubmission) => submission.email ?? words.erased;
	const name = (submission: FormSubmission) =>
		submission.contact_id ? (
			<Link href={to.contact(submission.contact_id)}>{submitterOf(submission)}</Link>
		) : (
			<button type="button" className={own.link} onClick={() => setOpen(submission.id)}>
				{submitterOf(submission)}
			</button>
		);
	const shown = rows.find((submission) => submission.id === open);
	return (
		<>
			<Table
				fill
				label={words.title}
				rows={rows}
				rowKey={(submission) => submission.id}
				rowName={submitterOf}
				onEnd={onEnd}
				onOpen={(submission) => setOpen(submission.id)}
				onPeek={(submission) => setOpen(submission.id)}
				columns={[
					{ id: "who", name: words.who, cell: name },
					{
						id: "outcome",
						name: words.outcome,
						width: 180,
						minWidth: 162,
						cell: (submission) => <StateBadge kind="submission" state={submission.outcome} />,
					},
					{
						id: "page",
						name: words.page,
						width: 280,
						minWidth: 200,
						cell: (submission) => submission.page_url ?? <NotSet />,
					},
					{
						id: "at",
						name: words.at,
						width: 130,
						minWidth: 116,
						cell: (submission) => <Time at={submission.submitted_at} />,
					},
				]}
				card={(submission) => (
					<span className={rowsCss.card}>
						<span className={rowsCss.name}>
							<b>{submitterOf(submission)}</b>
							<span>
								<Time at={submission.submitted_at} />
							</span>
						</span>
						<StateBadge kind="submission" state={submission.outcome} />
					</span>
				)}
			/>
			{shown && (
				<Dialog
					drawer="narrow"
					title={words.one({ who: submitterOf(shown) })}
					onClose={() => setOpen("")}
					footer={shown.contact_id && <LinkButton to={to.contact(shown.contact_id)}>{words.contact}</LinkButton>}
				>
					<p>
						<StateBadge kind="submission" state={shown.outcome} />
					</p>
					<Facts
						rows={[
							[words.at, exact(shown.submitted_at)],
							[words.confirmed, shown.confirmed_at && exact(shown.confirmed_at)],
							[words.page, shown.page_url],
							[words.ip, shown.ip],
							[words.agent, shown.user_agent],
						]}
					/>
					<h3>{words.answers}</h3>
					<Facts
						rows={Object.entries(shown.fields).map(([field, v]) => [<code key={field}>{field}</code>, textOf(v)])}
					/>
					<h3>{words.consents}</h3>
					{shown.consents.length === 0 ? (
						<p>{words.none}</p>
					) : (
						<Facts
							rows={shown.consents.map((consent) => [
								<code key={consent.binding}>{consent.binding}</code>,
								`“${consent.wording}”`,
							])}
						/>
					)}
				</Dialog>
			)}
		</>
	);
}

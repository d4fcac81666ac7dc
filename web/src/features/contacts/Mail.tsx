import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { useTitle } from "../activity/ActivityEvent";
import { useParam } from "../../base/params";
import { Attempts, Hits, SentMail, useEvidence } from "../activity/Evidence";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { List } from "../../ui/List";
import { Card } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import css from "./Contacts.module.css";
import { contactMailQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("contacts.mail", {
	title: "Emails sent",
	mail: "Email",
	when: "Sent",
	empty: "No emails yet",
	emptyText: "Emails sent to this person appear here and open as they were sent.",
	open: "Open {name} as it was sent",
	show: "Open",
	more: "Load earlier emails",
	servers: "What the servers said",
	hits: "Opens and clicks",
	page: "Open full page",
});

/** Mail lists the mail that was sent to a contact. That of broadcasts opens as it was sent. */
export function Mail({ id }: { id: string }) {
	const [open, setOpen] = useParam("mail");
	const sent = useInfiniteQuery(contactMailQuery(id));
	if (sent.isPending) return <Skeleton rows={5} />;
	if (sent.isError) return <Failure error={sent.error} retry={() => void sent.refetch()} />;
	const rows = sent.data.pages.flatMap((page) => page.data);
	if (rows.length === 0) return <Empty title={words.empty}>{words.emptyText}</Empty>;
	const subject = (properties: unknown) => (properties as { subject?: string } | null)?.subject;
	return (
		<Card title={words.title}>
			<List
				label={words.title}
				rows={rows}
				rowKey={(row) => row.id}
				columns={[
					{
						id: "mail",
						name: words.mail,
						cell: (row) => (
							<>
								<Name row={row} />{" "}
								{subject(row.properties) && subject(row.properties) !== row.title && (
									<span className={css.muted}>{subject(row.properties)}</span>
								)}
							</>
						),
					},
					{ id: "when", name: words.when, cell: (row) => <Time at={row.occurred_at} /> },
					{
						id: "open",
						name: "",
						end: true,
						cell: (row) =>
							row.broadcast_id && (
								<Button
									small
									aria-label={words.open({ name: row.title })}
									onClick={() => setOpen(row.broadcast_id ?? "")}
								>
									{words.show}
								</Button>
							),
					},
				]}
			/>
			{sent.hasNextPage && (
				<div>
					<Button busy={sent.isFetchingNextPage} onClick={() => void sent.fetchNextPage()}>
						{words.more}
					</Button>
				</div>
			)}
			{open && <Sent contact={id} broadcast={open} onClose={() => setOpen("")} />}
		</Card>
	);
}

/** Name names a mail. That of a sequence leads to it. */
function Name({ row }: { row: Parameters<typeof useTitle>[0] }) {
	const title = useTitle(row);
	return row.sequence_id && !row.broadcast_id ? <Link href={to.sequence(row.sequence_id)}>{title}</Link> : title;
}

function Sent({ contact, broadcast, onClose }: { contact: string; broadcast: string; onClose: () => void }) {
	const query = useEvidence(broadcast, contact);
	return (
		<Dialog drawer="wide" title={query.data?.message?.subject ?? words.mail} onClose={onClose}>
			{query.isPending ? (
				<Skeleton rows={8} />
			) : query.isError ? (
				<Failure error={query.error} retry={() => void query.refetch()} />
			) : (
				<>
					<p>
						<Link href={to.recipient(broadcast, contact)}>{words.page}</Link>
					</p>
					<SentMail evidence={query.data} />
					<h3>{words.servers}</h3>
					<Attempts evidence={query.data} />
					<h3>{words.hits}</h3>
					<Hits evidence={query.data} />
				</>
			)}
		</Dialog>
	);
}

import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "wouter";
import { api, url } from "../../api/client";
import { useCollection } from "../../base/collections";
import { useParam, useTextParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { Button, LinkButton } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { Select } from "../../ui/Field";
import { List } from "../../ui/List";
import { MailFrame } from "../../ui/MailFrame";
import { isGone, NotFound } from "../../ui/NotFound";
import { Card, Facts, Page } from "../../ui/Page";
import { Empty, Failure, NoMatch, Skeleton, searched } from "../../ui/States";
import { Time } from "../../ui/Time";
import { Tools } from "../../ui/Tools";
import { catalogue } from "../../base/words/catalogue";
import { bytes } from "../../base/words/formats";
import { explain } from "../../base/words/errors";
import { within } from "../../base/queries";
import { mailQuery, mailsQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("mailbox.mailbox", {
	title: "Built-in mailbox",
	sending: "Sending setup",
	about: "Emails sent through built-in mailboxes. Opening an email here does not count as an open.",
	none: "No emails yet",
	noneText: "Send something through a built-in mailbox, and it appears here.",
	noSink: "There is no built-in mailbox yet",
	noSinkText:
		"A built-in mailbox is a sending server that delivers to nobody. Emails you send through it appear here, so that you can try everything out.",
	addSink: "Add sending server",
	write: "Write a broadcast",
	noMatch: "No emails match",
	search: "Search addresses and subjects",
	mta: "Mailbox",
	to: "To",
	author: "From",
	from: "Envelope sender",
	subject: "Subject",
	size: "Size",
	received: "Received",
	links: "Links open in a new tab and work as they do for the recipient: opening one counts as a click.",
	clear: "Empty mailbox",
	clearTitle: "Empty this mailbox?",
	clearText: "All its emails are deleted.",
	more: "More",
	raw: "Download source",
});

/** Mailbox lists the mail that an MTA config of the built-in kind accepted. */
export default function Mailbox() {
	const client = useQueryClient();
	const [selected, choose] = useParam("mta");
	const [search, setSearch] = useTextParam("q");
	const [clearing, setClearing] = useState(false);
	const disabledReason = useDisabledReason("DELETE /mta-configs/{id}/messages");
	const addDisabledReason = useDisabledReason("POST /mta-configs");
	const writeDisabledReason = useDisabledReason("POST /broadcasts");
	const lanes = useCollection("mta_configs");
	const sinks = (lanes.data?.data ?? []).filter((lane) => lane.type === "sink");
	const lane = sinks.find((sink) => sink.id === selected) ?? sinks[0];
	const mails = useInfiniteQuery({ ...mailsQuery(lane?.id ?? "", search), enabled: lane !== undefined });
	const clear = useMutation({
		mutationFn: () => api("DELETE /mta-configs/{id}/messages", { path: { id: lane?.id ?? "" } }),
		onSuccess: () => {
			setClearing(false);
			void client.invalidateQueries(within("mailbox"));
		},
	});
	const rows = mails.data?.pages.flatMap((page) => page.data) ?? [];
	return (
		<Page
			title={words.title}
			breadcrumbs={[{ name: words.sending, to: to.sending() }]}
			description={words.about}
			actions={
				rows.length > 0 && (
					<Button disabledReason={disabledReason} onClick={() => setClearing(true)}>
						{words.clear}
					</Button>
				)
			}
		>
			{!(lanes.isSuccess && !lane) && (rows.length > 0 || search || sinks.length > 1 || mails.isPending) && (
				<Tools label={words.search} value={search} onChange={setSearch} loading={mails.isPending}>
					{sinks.length > 1 && (
						<Select
							label={words.mta}
							hideLabel
							value={lane?.id ?? ""}
							onChange={choose}
							choices={sinks.map((sink) => ({ value: sink.id, label: sink.name }))}
						/>
					)}
				</Tools>
			)}
			{lanes.isSuccess && !lane ? (
				<Empty
					title={words.noSink}
					action={
						<LinkButton variant="primary" to={to.mta("new")} disabledReason={addDisabledReason}>
							{words.addSink}
						</LinkButton>
					}
				>
					{words.noSinkText}
				</Empty>
			) : mails.isPending ? (
				<Skeleton rows={8} />
			) : mails.isError ? (
				<Failure error={mails.error} retry={() => void mails.refetch()} />
			) : rows.length === 0 && search ? (
				<NoMatch title={words.noMatch} filters={[searched(search, setSearch)]} />
			) : rows.length === 0 ? (
				<Empty
					title={words.none}
					action={
						<LinkButton variant="primary" to={to.newBroadcast()} disabledReason={writeDisabledReason}>
							{words.write}
						</LinkButton>
					}
				>
					{words.noneText}
				</Empty>
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(message) => message.id}
					columns={[
						{
							id: "subject",
							name: words.subject,
							cell: (message) => <Link href={to.mail(lane?.id ?? "", message.id)}>{message.subject || "–"}</Link>,
						},
						{ id: "to", name: words.to, cell: (message) => message.to },
						{ id: "received", name: words.received, cell: (message) => <Time at={message.received_at} /> },
						{ id: "size", name: words.size, end: true, cell: (message) => bytes(message.size) },
					]}
				/>
			)}
			{mails.hasNextPage && (
				<div>
					<Button busy={mails.isFetchingNextPage} onClick={() => void mails.fetchNextPage()}>
						{words.more}
					</Button>
				</div>
			)}
			{clearing && (
				<Confirm
					title={words.clearTitle}
					action={words.clear}
					busy={clear.isPending}
					error={clear.error && <p role="alert">{explain(clear.error)}</p>}
					onConfirm={() => clear.mutate()}
					onClose={() => setClearing(false)}
				>
					<p>{words.clearText}</p>
				</Confirm>
			)}
		</Page>
	);
}

/** Message shows one mail of the mailbox. */
export function Message() {
	const { lane = "", id = "" } = useParams<{ lane: string; id: string }>();
	const mail = useQuery(mailQuery(lane, id));
	const breadcrumbs = [{ name: words.title, to: to.mailbox() }];
	const message = mail.data;
	if (!message || isGone(mail.error))
		return <NotFound query={mail} list={words.title} to={to.mailbox()} breadcrumbs={breadcrumbs} />;
	return (
		<Page
			title={message.subject || "–"}
			breadcrumbs={breadcrumbs}
			actions={
				<a href={url("GET /mta-configs/{id}/messages/{message_id}/raw", { id: lane, message_id: id })}>{words.raw}</a>
			}
		>
			<Card>
				<Facts
					rows={[
						[words.author, message.headers.find(([name]) => name?.toLowerCase() === "from")?.[1]],
						[words.from, message.mail_from],
						[words.to, message.to],
						[words.received, <Time key="r" at={message.received_at} />],
						[words.size, bytes(message.size)],
					]}
				/>
			</Card>
			{message.html && <p>{words.links}</p>}
			<MailFrame html={message.html} text={message.text} headers={message.headers} fullHeight opens />
		</Page>
	);
}

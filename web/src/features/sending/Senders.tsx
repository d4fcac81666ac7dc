import { Link } from "wouter";
import { useCollection } from "../../base/collections";
import { useParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { List } from "../../ui/List";
import { NotSet, Page } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { SenderEditor } from "./SenderEditor";
import css from "./Senders.module.css";
import { to } from "../../base/paths";

const words = catalogue("sending.senders", {
	title: "Senders",
	sending: "Sending setup",
	about: "Who your email comes from: a name and an address on one of your domains.",
	add: "Add sender",
	sender: "Sender",
	types: "Email types",
	active: "Active",
	off: "Off",
	state: "State",
	confirmed: "Confirmed",
	none: "No senders yet",
	noneText: "Every email needs a sender. Choose a name that your recipients know.",
	example: "From: Käthe of Käthe’s Books <news@books.example>",
});

/** Senders lists the sending identities. */
export default function Senders() {
	const disabledReason = useDisabledReason("POST /sending-identities");
	const [open, setOpen] = useParam("edit");
	const senders = useCollection("sending_identities");
	const types = useCollection("email_types");
	const all = senders.data?.data ?? [];
	const typeName = new Map((types.data?.data ?? []).map((emailType) => [emailType.id, emailType.display_name]));
	const button = (
		<Button kind="create" disabledReason={disabledReason} onClick={() => setOpen("new")}>
			{words.add}
		</Button>
	);
	return (
		<Page
			title={words.title}
			breadcrumbs={[{ name: words.sending, to: to.sending() }]}
			description={words.about}
			actions={(!senders.isSuccess || all.length > 0) && button}
		>
			{senders.isPending ? (
				<Skeleton rows={4} />
			) : senders.isError ? (
				<Failure error={senders.error} retry={() => void senders.refetch()} />
			) : all.length === 0 ? (
				<Empty title={words.none} action={button} example={<pre>{words.example}</pre>}>
					{words.noneText}
				</Empty>
			) : (
				<List
					label={words.title}
					rows={all}
					rowKey={(sender) => sender.id}
					columns={[
						{
							id: "name",
							name: words.sender,
							cell: (sender) => (
								<Link className={css.open} href={to.sender(sender.id)}>
									{sender.display_name} <span>{sender.email_address}</span>
								</Link>
							),
						},
						{
							id: "types",
							name: words.types,
							cell: (sender) => sender.email_type_ids.map((id) => typeName.get(id) ?? id).join(", ") || <NotSet />,
						},
						{
							id: "state",
							beside: true,
							name: words.state,
							cell: (sender) =>
								sender.active ? (
									<Badge tone="success">{words.active}</Badge>
								) : (
									<Badge tone="neutral">{words.off}</Badge>
								),
						},
						{
							id: "confirmed",
							name: words.confirmed,
							end: true,
							cell: (sender) => sender.verified_mta_config_ids.length,
						},
					]}
				/>
			)}
			{open === "new" && <SenderEditor onClose={() => setOpen("")} />}
		</Page>
	);
}

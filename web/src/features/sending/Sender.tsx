import { useQuery } from "@tanstack/react-query";
import { Link, useLocation, useParams } from "wouter";
import { useCollection } from "../../base/collections";
import { useParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { isGone, NotFound } from "../../ui/NotFound";
import { Skeleton } from "../../ui/States";
import { Card, Facts, NotSet, Page } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { ConfirmLanes } from "./ConfirmLanes";
import { SenderEditor } from "./SenderEditor";
import css from "./Senders.module.css";
import { senderQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("sending.sender", {
	sending: "Sending setup",
	senders: "Senders",
	edit: "Edit",
	active: "Active",
	off: "Off",
	line: "In the inbox",
	details: "Details",
	address: "Address",
	domain: "Domain",
	reply: "Reply-to address",
	same: "Same as the sender address",
	types: "Email types",
	mta: "Sending server",
	account: "Workspace default",
	utm: "UTM source",
	links: "Host for content links",
	images: "Host for images",
	tracking: "Host for tracked links",
	confirmed: "Confirmed sending servers",
});

/** SenderPage shows one sender: how a reader sees it, what it may write, and by which MTA configs. */
export default function SenderPage() {
	const { id = "" } = useParams<{ id: string }>();
	const [, navigate] = useLocation();
	const disabledReason = useDisabledReason("PUT /sending-identities/{id}");
	const [edit, setEdit] = useParam("edit");
	const sender = useQuery(senderQuery(id));
	const types = useCollection("email_types");
	const lanes = useCollection("mta_configs");
	const breadcrumbs = [
		{ name: words.sending, to: to.sending() },
		{ name: words.senders, to: to.senders() },
	];
	const s = sender.data;
	if (!s || isGone(sender.error))
		return (
			<NotFound
				query={sender}
				list={words.senders}
				to={to.senders()}
				breadcrumbs={breadcrumbs}
				unsavedInput={{ kinds: ["sender"], id }}
			/>
		);
	const all = lanes.data?.data ?? [];
	const lane = all.find((lane) => lane.id === s.default_mta_config_id);
	const typeNames = (types.data?.data ?? [])
		.filter((emailType) => s.email_type_ids.includes(emailType.id))
		.map((emailType) => emailType.display_name);
	return (
		<Page
			title={s.display_name}
			breadcrumbs={breadcrumbs}
			status={<Badge tone={s.active ? "success" : "neutral"}>{s.active ? words.active : words.off}</Badge>}
			actions={
				<Button kind="edit" disabledReason={disabledReason} onClick={() => setEdit("1")}>
					{words.edit}
				</Button>
			}
		>
			<Card title={words.line}>
				<p className={css.line}>
					<b>{s.display_name}</b> &lt;{s.email_address}&gt;
				</p>
			</Card>
			<Card title={words.confirmed}>
				{lanes.isPending ? (
					<Skeleton rows={2} />
				) : (
					<ConfirmLanes
						sender={s}
						lanes={all.filter((lane) => lane.active || s.verified_mta_config_ids.includes(lane.id))}
					/>
				)}
			</Card>
			<Card title={words.details}>
				<Facts
					rows={[
						[words.address, s.email_address],
						[
							words.domain,
							<Link key="d" href={to.domain(s.sending_domain_id)}>
								{s.email_address.split("@")[1]}
							</Link>,
						],
						[words.reply, s.reply_to ?? words.same],
						[words.types, typeNames.join(", ") || <NotSet key="t" />],
						[
							words.mta,
							lane ? (
								<Link key="m" href={to.mta(lane.id)}>
									{lane.name}
								</Link>
							) : (
								words.account
							),
						],
						[words.utm, s.utm_code],
						[words.tracking, s.tracking_domain],
						[words.links, s.content_rewrite_domain],
						[words.images, s.image_rewrite_domain],
					]}
				/>
			</Card>
			{edit && <SenderEditor sender={s} onClose={() => setEdit("")} onDeleted={() => navigate(to.senders())} />}
		</Page>
	);
}

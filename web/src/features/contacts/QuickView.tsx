import { useQuery } from "@tanstack/react-query";
import { useTitle } from "../activity/ActivityEvent";
import type { Contact } from "../../api/schema";
import { useShortcuts } from "../../base/shortcuts";
import { StateBadge } from "../../ui/Badge";
import { LinkButton } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Facts } from "../../ui/Page";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { nameOf } from "./contactFields";
import css from "./Contacts.module.css";
import { useDefaultEligibility } from "./Eligibility";
import { latestActivityQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("contacts.peek", {
	open: "Open",
	email: "Email",
	status: "Status",
	deliverability: "Deliverability",
	mailed: "Can be mailed?",
	yes: "Yes",
	no: "No: {why}",
	company: "Company",
	tags: "Tags",
	recent: "Recent events",
	none: "Nothing has happened yet.",
});

function Title({ row }: { row: Parameters<typeof useTitle>[0] }) {
	return useTitle(row);
}

/** Peek shows one contact beside the table; j and k walk to the next and the previous one. */
export function Peek({
	contact,
	onNeighbour,
	onClose,
}: {
	contact: Contact;
	onNeighbour: (offset: number) => void;
	onClose: () => void;
}) {
	useShortcuts({ j: () => onNeighbour(1), k: () => onNeighbour(-1) }, { drawer: true });
	const eligibility = useDefaultEligibility(contact);
	const events = useQuery(latestActivityQuery(contact.id));
	return (
		<Dialog
			drawer="narrow"
			title={nameOf(contact)}
			onClose={onClose}
			footer={
				<LinkButton variant="primary" to={to.contact(contact.id)}>
					{words.open}
				</LinkButton>
			}
		>
			<Facts
				rows={[
					[words.email, contact.email],
					[words.status, <StateBadge key="s" kind="contact" state={contact.global_status} />],
					[words.deliverability, <StateBadge key="d" kind="deliverability" state={contact.deliverability_status} />],
					[words.mailed, eligibility && (eligibility.eligible ? words.yes : words.no({ why: eligibility.reason }))],
					[words.company, contact.company],
					[words.tags, contact.tags.join(", ") || null],
				]}
			/>
			<h3>{words.recent}</h3>
			{events.data?.data.length === 0 && <p>{words.none}</p>}
			<ul className={css.recent}>
				{events.data?.data.map((row) => (
					<li key={row.id}>
						<Title row={row} /> <Time at={row.occurred_at} />
					</li>
				))}
			</ul>
		</Dialog>
	);
}

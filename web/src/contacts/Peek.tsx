import { useQuery } from "@tanstack/react-query";
import { api } from "../api/client";
import type { Contact } from "../api/schema";
import { useKey } from "../app/session";
import { StateBadge } from "../ui/Badge";
import { LinkButton } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Facts } from "../ui/Page";
import { Time } from "../ui/Time";
import { catalogue } from "../words/catalogue";
import { nameOf } from "./columns";

const words = catalogue({
	open: "Open",
	email: "Email",
	status: "Status",
	deliverability: "Deliverability",
	company: "Company",
	tags: "Tags",
	recent: "Last events",
	none: "Nothing has happened yet.",
});

/** Peek shows one contact beside the table. */
export function Peek({ contact: c, onClose }: { contact: Contact; onClose: () => void }) {
	const key = useKey();
	const events = useQuery({ queryKey: key("contact", c.id, "activity", "peek"), queryFn: () => api("GET /contacts/{id}/activity", { path: { id: c.id }, query: { limit: "5" } }) });
	return (
		<Dialog
			drawer="narrow"
			title={nameOf(c)}
			onClose={onClose}
			footer={
				<LinkButton look="primary" to={`/contacts/${c.id}`}>
					{words.open}
				</LinkButton>
			}
		>
			<Facts
				rows={[
					[words.email, c.email],
					[words.status, <StateBadge key="s" kind="contact" state={c.global_status} />],
					[words.deliverability, <StateBadge key="d" kind="deliverability" state={c.deliverability_status} />],
					[words.company, c.company],
					[words.tags, c.tags.join(", ") || null],
				]}
			/>
			<h3>{words.recent}</h3>
			{events.data?.data.length === 0 && <p>{words.none}</p>}
			<ul>
				{events.data?.data.map((e) => (
					<li key={e.id}>
						<Time at={e.occurred_at} /> · {e.title}
					</li>
				))}
			</ul>
		</Dialog>
	);
}

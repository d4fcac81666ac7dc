import { useEffect, useState } from "react";
import type { Contact } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { Figure, Figures } from "../../ui/Figure";
import { Card } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { dates, exactNumber } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import css from "./Contacts.module.css";
import { Tags } from "./Tags";

const words = catalogue("contacts.about", {
	stage: "Stage",
	none: "None",
	prospect: "Prospect score",
	customer: "Customer score",
	local: "Local time",
	reasons: {
		soft_deleted: "Cannot be mailed because the contact is deleted.",
		suppression_list: "Cannot be mailed because the address is on the suppression list.",
		hard_bounce: "Cannot be mailed because the address does not exist.",
		complaint: "Cannot be mailed because of a spam complaint.",
		soft_bounces: "Emails to this address have bounced temporarily.",
		inactive: "No opens or clicks in the latest emails.",
	},
});

/** useClock returns the time, a new one each minute. */
function useClock() {
	const [now, setNow] = useState(() => new Date());
	useEffect(() => {
		const timer = setInterval(() => setNow(new Date()), 60_000);
		return () => clearInterval(timer);
	}, []);
	return now;
}

function localTime(zone: string | null, now: Date): string | null {
	if (!zone) return null;
	try {
		return dates({
			timeZone: zone,
			weekday: "short",
			hour: "2-digit",
			minute: "2-digit",
		}).format(now);
	} catch {
		return null; // a zone that this browser does not know
	}
}

/** About shows where a contact stands, and its tags. */
export function About({ contact, off }: { contact: Contact; off: boolean }) {
	const now = useClock();
	const stages = useCollection("stages");
	const stage = stages.data?.data.find((stage) => stage.id === contact.stage_id);
	const zone = contact.timezone ?? contact.first_touch_timezone;
	const local = localTime(zone, now);
	return (
		<Card>
			<Figures>
				<Figure name={words.stage} value={stage?.name ?? words.none} />
				<Figure
					name={words.prospect}
					description={{ definition: term("prospectScore").definition }}
					value={exactNumber(contact.prospect_score)}
				/>
				<Figure
					name={words.customer}
					description={{ definition: term("customerScore").definition }}
					value={exactNumber(contact.customer_score)}
				/>
				{local && <Figure name={words.local} value={local} detail={zone} />}
			</Figures>
			{contact.deliverability_reason && (
				<p className={css.muted}>
					{words.reasons[contact.deliverability_reason as keyof typeof words.reasons] ?? contact.deliverability_reason}
				</p>
			)}
			<Tags contact={contact} off={off} />
		</Card>
	);
}

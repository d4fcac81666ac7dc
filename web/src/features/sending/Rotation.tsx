import { Check, Circle } from "lucide-react";
import type { KeyRotation } from "../../api/schema";
import { Card } from "../../ui/Page";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import css from "./Domain.module.css";

const words = catalogue("sending.rotation", {
	title: "The signing key is being replaced",
	done: "Done",
	open: "Next",
	made: "A new key has been created. Publish its record, {selector}, next to the old one.",
	signs: "Email is signed with the key {selector}.",
	will: "It is used once its record is found. Until then, the old key is used.",
	retire: "Keep the record of the old key, {selector}, until this time, for emails still on their way. Then remove it.",
	later: "The record of the old key can be removed seven days after that.",
});

/** Rotation shows the three steps of a change of the signing key. */
export function Rotation({ rotation, selector }: { rotation: KeyRotation; selector: string }) {
	const switched = rotation.next_selector === null;
	const steps = [
		{ done: true, text: words.made({ selector: rotation.next_selector ?? selector }), at: rotation.started_at },
		{ done: switched, text: switched ? words.signs({ selector }) : words.will, at: null },
		{
			done: false,
			text: switched ? words.retire({ selector: rotation.retired_selector ?? "" }) : words.later,
			at: rotation.retire_at,
		},
	];
	return (
		<Card title={words.title}>
			<ol className={css.steps}>
				{steps.map((step) => (
					<li key={step.text}>
						{step.done ? <Check aria-label={words.done} size={18} /> : <Circle aria-label={words.open} size={18} />}
						<span>
							{step.text} {step.at && <Time at={step.at} />}
						</span>
					</li>
				))}
			</ol>
		</Card>
	);
}

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Check, X } from "lucide-react";
import { Link } from "wouter";
import type { Contact, EligibilityRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useParam } from "../../base/params";
import { useAccount } from "../../base/shell";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Select } from "../../ui/Field";
import { Card } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import css from "./Eligibility.module.css";
import { suppressionReason } from "../../base/words/suppressions";
import { eligibilityText } from "./eligibilityTexts";
import { eligibilityQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("contacts.eligibility", {
	title: "Can be mailed?",
	yes: "Yes",
	no: "No",
	for: "Email",
	type: "Emails of type {name}",
	broadcast: "Broadcast {name}",
	sequence: "Sequence {name}",
	since: "Since {at, date}",
	checks: {
		audience: "Is in the audience",
		recipient: "Not processed by this send yet",
		pending: "Has confirmed the subscription",
		not_active: "Is active",
		do_not_contact: "May be contacted",
		suppressed_address: "Is not on the suppression list",
		unsubscribed_category: "Has not unsubscribed from the category",
		unsubscribed_type: "Has not unsubscribed from this type",
		invalid_email: "Has an address that can be mailed",
	},
	failed: {
		audience: "Not in the audience",
		recipient: "Already processed by this send",
		pending: "Has not confirmed the subscription",
		not_active: "Not active",
		do_not_contact: "Must not be contacted",
		suppressed_address: "On the suppression list",
		unsubscribed_category: "Unsubscribed from the category",
		unsubscribed_type: "Unsubscribed from this type",
		invalid_email: "Has an address that cannot be mailed",
	},
	actions: {
		restore: "Restore contact",
		reset_status: "View consent",
		clear_do_not_contact: "Change in profile",
		remove_suppression: "Open suppression list",
		change_email: "Change address",
		change_segments: "View lists",
	},
});

/** Where each fix is made. */
function linkFor(contact: Contact, action: Exclude<NonNullable<EligibilityRow["action"]>, "restore">): string {
	const links = {
		reset_status: to.contact(contact.id, { tab: "consent" }),
		clear_do_not_contact: to.contact(contact.id, { tab: "profile" }),
		remove_suppression: to.suppressions({ q: contact.email }),
		change_email: to.contact(contact.id, { tab: "profile" }),
		change_segments: to.contact(contact.id, { tab: "lists" }),
	};
	return links[action];
}

/** reasonText returns why a check failed: why the address is on the suppression list, or else what the server reports. */
function reasonText(check: EligibilityRow): string | undefined {
	if (check.check === "suppressed_address" && check.reason) return suppressionReason(check.reason) ?? undefined;
	return check.detail ? (eligibilityText(check.detail) ?? undefined) : undefined;
}

/** useTypes returns the active email types, and the one that mail has unless another is chosen. */
function useTypes() {
	const types = useCollection("email_types");
	const account = useAccount();
	const all = (types.data?.data ?? []).filter((emailType) => emailType.active);
	return {
		all,
		pending: types.isPending,
		defaultType: all.find((emailType) => emailType.type_key === account.data?.default_email_type_key) ?? all[0],
	};
}

/** useDefaultEligibility says whether the contact gets mail of the account's default type, and if not, the first reason. */
export function useDefaultEligibility(contact: Contact): { eligible: boolean; reason: string } | undefined {
	const { defaultType } = useTypes();
	const eligibility = useQuery(
		eligibilityQuery(contact.id, defaultType ? `email_type_key:${defaultType.type_key}` : ""),
	).data;
	const first = eligibility?.checks.find((check) => !check.ok);
	return eligibility && { eligible: eligibility.eligible, reason: first ? words.failed[first.check] : "" };
}

/** Eligibility answers whether the contact gets mail of a type, by the checks that sending makes. */
export function Eligibility({
	contact,
	onRestore,
	disabledReason,
}: {
	contact: Contact;
	onRestore: () => void;
	disabledReason?: string;
}) {
	const { all, defaultType, pending } = useTypes();
	const broadcasts = useCollection("broadcasts");
	const sequences = useCollection("sequences");
	const [selected, choose] = useParam("for");
	const target = selected || (defaultType ? `email_type_key:${defaultType.type_key}` : "");
	const choices = [
		...all.map((emailType) => ({
			value: `email_type_key:${emailType.type_key}`,
			label: words.type({ name: emailType.display_name }),
		})),
		...(broadcasts.data?.data ?? []).slice(0, 50).map((broadcast) => ({
			value: `broadcast_id:${broadcast.id}`,
			label: words.broadcast({ name: broadcast.name }),
		})),
		...(sequences.data?.data ?? []).map((sequence) => ({
			value: `sequence_id:${sequence.id}`,
			label: words.sequence({ name: sequence.name }),
		})),
	];
	const result = useQuery({ ...eligibilityQuery(contact.id, target), placeholderData: keepPreviousData });
	const eligibility = result.data;
	const loading = !eligibility && !result.isError && (pending || target !== "");
	return (
		<div data-whole aria-busy={loading || undefined}>
			<Card
				title={
					<span className={css.title}>
						{words.title}{" "}
						{eligibility && (
							<Badge tone={eligibility.eligible ? "success" : "danger"}>
								{eligibility.eligible ? words.yes : words.no}
							</Badge>
						)}
					</span>
				}
				actions={
					choices.length > 1 && (
						<Select label={words.for} hideLabel value={target} onChange={choose} choices={choices} />
					)
				}
			>
				{loading && <Skeleton rows={9} />}
				{result.isError && <Failure error={result.error} retry={() => void result.refetch()} />}
				{eligibility && (
					<ol className={css.checks}>
						{eligibility.checks.map((check) => (
							<li key={check.check} data-ok={check.ok}>
								{check.ok ? <Check aria-hidden size={16} /> : <X aria-hidden size={16} />}
								<span>
									<span className="visually-hidden">{check.ok ? words.yes : words.no}: </span>
									{(check.ok ? words.checks : words.failed)[check.check]}
									{!check.ok && (
										<small>
											{[reasonText(check), check.since && words.since({ at: check.since })].filter(Boolean).join(" · ")}{" "}
											{check.action === "restore" ? (
												<Button small disabledReason={disabledReason} onClick={onRestore}>
													{words.actions.restore}
												</Button>
											) : (
												check.action && <Link href={linkFor(contact, check.action)}>{words.actions[check.action]}</Link>
											)}
										</small>
									)}
								</span>
							</li>
						))}
					</ol>
				)}
			</Card>
		</div>
	);
}

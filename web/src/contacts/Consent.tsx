import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, newKey } from "../api/client";
import type { Contact } from "../api/schema";
import { useKey, useWhyNot } from "../app/session";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Dialog";
import { Switch } from "../ui/Field";
import { Card, Notice } from "../ui/Page";
import { Failure, Skeleton } from "../ui/States";
import { toast } from "../ui/Toast";
import { catalogue, day } from "../words/catalogue";
import { explain } from "../words/errors";

const words = catalogue({
	note: "Consent comes from the person. Change a subscription only when they asked you to.",
	others: "Other types",
	left: (at: string | null) => (at ? `This person unsubscribed from everything on ${day(at)}. Only they can come back.` : "This person unsubscribed from everything. Only they can come back."),
	bounced: "Mail to this address was returned.",
	complained: "This person reported mail as spam.",
	reset: "Reset the status",
	resetText: "The contact becomes active again, and the address leaves the suppression list. Do this only when you know that the address works and that the person wants your mail.",
	from: "Turned off for this person.",
});

/** Consent shows the email types by category, and whether the contact gets them. */
export function Consent({ contact: c, onChanged }: { contact: Contact; onChanged: () => void }) {
	const key = useKey();
	const why = useWhyNot("POST /contacts/bulk");
	const whyNotReset = useWhyNot("POST /contacts/{id}/anonymize");
	const [resetting, setResetting] = useState(false);
	const types = useQuery({ queryKey: key("email-types"), queryFn: () => api("GET /email-types", {}), staleTime: 60_000 });
	const categories = useQuery({ queryKey: key("email-categories"), queryFn: () => api("GET /email-categories", {}), staleTime: 60_000 });
	const change = useMutation({
		mutationFn: (v: { type: string; on: boolean }) =>
			api("POST /contacts/bulk", {
				idempotencyKey: newKey(),
				body: { action: v.on ? "subscribe" : "unsubscribe", contact_ids: [c.id], params: { email_type_key: v.type } },
			}),
		onSuccess: onChanged,
		onError: (e) => toast(explain(e), { tone: "danger" }),
	});
	const reset = useMutation({
		mutationFn: () => api("POST /contacts/bulk", { idempotencyKey: newKey(), body: { action: "reset_status", contact_ids: [c.id] } }),
		onSuccess: () => {
			setResetting(false);
			onChanged();
		},
	});
	if (types.isPending || categories.isPending) return <Skeleton rows={6} />;
	if (types.isError) return <Failure error={types.error} retry={() => void types.refetch()} />;
	const stopped = ["unsubscribed", "bounced", "complained"].includes(c.global_status);
	const groups = [...(categories.data?.data ?? []).map((g) => ({ id: g.id as string | null, name: g.name, description: g.description })), { id: null, name: words.others, description: null }];
	return (
		<>
			{stopped ? (
				<Notice tone="warning" title={c.global_status === "unsubscribed" ? words.left(c.unsubscribed_at) : c.global_status === "bounced" ? words.bounced : words.complained}>
					<Button small why={whyNotReset} onClick={() => setResetting(true)}>
						{words.reset}
					</Button>
				</Notice>
			) : (
				<p>{words.note}</p>
			)}
			{groups.map((g) => {
				const of = types.data.data.filter((t) => t.active && t.category_id === g.id);
				return (
					of.length > 0 && (
						<Card key={g.id ?? ""} title={g.name}>
							{of.map((t) => (
								<Switch
									key={t.id}
									label={t.display_name}
									help={t.description}
									checked={!stopped && c.subscriptions[t.type_key] !== false && (g.id === null || c.category_subscriptions[g.id] !== false)}
									why={stopped ? words.from : why}
									onChange={(on) => change.mutate({ type: t.type_key, on })}
								/>
							))}
						</Card>
					)
				);
			})}
			{resetting && (
				<Confirm
					title={words.reset}
					action={words.reset}
					type={c.email}
					busy={reset.isPending}
					error={reset.error && <p role="alert">{explain(reset.error)}</p>}
					onConfirm={() => reset.mutate()}
					onClose={() => setResetting(false)}
				>
					<p>{words.resetText}</p>
				</Confirm>
			)}
		</>
	);
}

import { useRef, useState } from "react";
import { ApiError, api, newKey } from "../../api/client";
import type { BroadcastSessionView, TestSendAnswer } from "../../api/schema";
import { useSession } from "../../base/session";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Checkbox, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { addressesIn } from "../../base/words/addresses";
import { attemptError } from "../../base/words/replies";
import { catalogue } from "../../base/words/catalogue";
import css from "./Composer.module.css";
import { ContactPick } from "./Preview";

const words = catalogue("broadcasts.testSend", {
	title: "Send test",
	to: "To",
	help: "Up to 10 addresses, separated by commas. Tests are not counted in reports.",
	send: "{count, plural, one {Send # email} other {Send # emails}}",
	close: "Close",
	sent: "Sent",
	suppressed: "On the suppression list",
	failed: "Failed",
	address: "Enter at least one address.",
	variant: "Choose at least one version.",
	most: "No more than ten addresses.",
	as: "With data from",
	asHelp: "Without a contact, sample values are used.",
	variants: "Versions",
	copies:
		"{addresses, plural, one {# address} other {# addresses}}{variants, plural, =0 {} =1 {} one { × # version} other { × # versions}}{senders, plural, =0 {} =1 {} one { × # sender} other { × # senders}}",
	from: "from {sender}",
	variantOf: "version {name}",
});

/** TestSend sends a broadcast to a few addresses. */
export function TestSend({
	flush,
	value: broadcast,
	senders,
	onClose,
}: {
	/** Saves what is typed. */
	flush?: () => Promise<unknown>;
	value: BroadcastSessionView;
	senders: number;
	onClose: () => void;
}) {
	const { user } = useSession();
	const form = useForm({ to: user.email });
	const variants = broadcast.variants ?? [];
	const [contact, setContact] = useState<string | null>(null);
	const [selected, setSelected] = useState(() => variants.map((variant) => variant.id));
	const [answer, setAnswer] = useState<TestSendAnswer | null>(null);
	const to = [...new Set(addressesIn(form.values.to))];
	const copies = to.length * Math.max(1, selected.length) * senders;
	const disabledReason =
		to.length === 0
			? words.address
			: to.length > 10
				? words.most
				: variants.length > 0 && selected.length === 0
					? words.variant
					: undefined;
	const idempotencyKey = useRef(newKey());
	const send = () =>
		form.submit(async () => {
			setAnswer(null);
			await flush?.();
			const body = { to, contact_id: contact, ...(variants.length > 0 ? { variant_ids: selected } : {}) };
			try {
				setAnswer(
					await api("POST /broadcasts/{broadcast_id}/test-send", {
						path: { broadcast_id: broadcast.id },
						body,
						idempotencyKey: idempotencyKey.current,
					}),
				);
				idempotencyKey.current = newKey();
			} catch (error) {
				// Without an answer the same request may have arrived, or still runs; with one, the next is another.
				const running =
					error instanceof ApiError &&
					error.code === "IDEMPOTENCY_IN_PROGRESS" &&
					error.details.reason !== "interrupted";
				if (error instanceof ApiError && error.status !== 0 && !running) idempotencyKey.current = newKey();
				throw error;
			}
		});
	return (
		<Dialog
			title={words.title}
			onClose={onClose}
			onSubmit={() => !disabledReason && void send()}
			footer={
				<>
					<Button onClick={onClose}>{words.close}</Button>
					<Button type="submit" variant="primary" busy={form.busy} disabledReason={disabledReason}>
						{words.send({ count: copies })}
					</Button>
				</>
			}
		>
			<FormProblems problems={form.problems} />
			<TextField
				label={words.to}
				help={words.help}
				path="to"
				value={form.values.to}
				onChange={(value) => form.set({ to: value })}
				error={form.problems.byPath.to}
				autoFocus
			/>
			<ContactPick label={words.as} help={words.asHelp} value={contact} onChange={setContact} />
			{variants.length > 0 && (
				<fieldset className={css.choices}>
					<legend>{words.variants}</legend>
					{variants.map((variant) => (
						<Checkbox
							key={variant.id}
							label={variant.name}
							checked={selected.includes(variant.id)}
							onChange={(checked) =>
								setSelected(checked ? [...selected, variant.id] : selected.filter((id) => id !== variant.id))
							}
						/>
					))}
				</fieldset>
			)}
			<p className={css.muted}>{words.copies({ addresses: to.length, variants: selected.length, senders })}</p>
			{answer && (
				<ul className={css.results} role="status">
					{answer.results.map((result) => (
						<li key={result.to + result.sending_identity_email + result.variant_id}>
							<Badge
								tone={result.status === "sent" ? "success" : result.status === "suppressed" ? "warning" : "danger"}
							>
								{result.status === "sent"
									? words.sent
									: result.status === "suppressed"
										? words.suppressed
										: words.failed}
							</Badge>{" "}
							{result.to}{" "}
							<span className={css.muted}>
								{[
									words.from({ sender: result.sending_identity_email }),
									result.variant_id &&
										words.variantOf({
											name: variants.find((variant) => variant.id === result.variant_id)?.name ?? result.variant_id,
										}),
								]
									.filter(Boolean)
									.join(", ")}
							</span>{" "}
							{result.error && <span className={css.muted}>{attemptError(result.error)}</span>}
						</li>
					))}
				</ul>
			)}
		</Dialog>
	);
}

import { useState } from "react";
import { api } from "../../api/client";
import type { VerifiedLane } from "../../api/schema";
import { useSession, useDisabledReason } from "../../base/session";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { Callout } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";

const words = catalogue("broadcasts.confirmLane", {
	title: "Confirm with a test email",
	about:
		"This sends one email from this sender through this sending server. If the server accepts it, the combination is confirmed.",
	to: "To",
	send: "Send",
	close: "Close",
	accepted: "The server accepted it.",
	refused: "The server refused it.",
});

/** ConfirmLane tries an MTA config with a sender, by one mail. */
export function ConfirmLane({
	identity,
	lane,
	onClose,
	onDone,
}: {
	identity: string;
	lane: string;
	onClose: () => void;
	onDone: () => void;
}) {
	const { user } = useSession();
	const disabledReason = useDisabledReason("POST /sending-identities/{id}/verify-lane");
	const form = useForm({ to: user.email });
	const [answer, setAnswer] = useState<VerifiedLane | null>(null);
	const close = () => (answer?.accepted ? onDone() : onClose());
	return (
		<Dialog
			title={words.title}
			onClose={close}
			onSubmit={() =>
				!disabledReason &&
				void form.submit(async () =>
					setAnswer(
						await api("POST /sending-identities/{id}/verify-lane", {
							path: { id: identity },
							body: { mta_config_id: lane, to: form.values.to },
						}),
					),
				)
			}
			footer={
				<>
					<Button onClick={close}>{words.close}</Button>
					{!answer?.accepted && (
						<Button type="submit" variant="primary" busy={form.busy} disabledReason={disabledReason}>
							{words.send}
						</Button>
					)}
				</>
			}
		>
			<p>{words.about}</p>
			<FormProblems problems={form.problems} />
			<TextField
				label={words.to}
				type="email"
				path="to"
				value={form.values.to}
				onChange={(to) => form.set({ to })}
				error={form.problems.byPath.to}
				autoFocus
			/>
			{answer && (
				<Callout tone={answer.accepted ? "success" : "danger"} title={answer.accepted ? words.accepted : words.refused}>
					<code>{answer.smtp_response}</code>
				</Callout>
			)}
		</Dialog>
	);
}

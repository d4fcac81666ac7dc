import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { api, newKey } from "../../api/client";
import type { AccountSessionView, MtaConfigRow } from "../../api/schema";
import { lazyComponent } from "../../base/lazy";
import { useCollection } from "../../base/collections";
import { useDisabledReason } from "../../base/session";
import { Health } from "../sending/MtaHealth";
import { ConnectionTest } from "../sending/ConnectionTest";
import { mtaTypes } from "../sending/Sending";
import { Button } from "../../ui/Button";
import { Card } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { useSetupChanged } from "./Setup";
import { accountQuery } from "../settings/queries";

const Editor = lazyComponent(() => import("../sending/MtaEditor").then((module) => ({ default: module.Editor })));

const words = catalogue("home.laneStep", {
	try: "Just trying it out",
	tryText: "All email goes to the built-in mailbox, and nobody outside gets any. You can change this at any time.",
	mailbox: "Use the built-in mailbox",
	mailboxName: "Mailbox",
	there: "Already set up",
	use: "Use {name}",
	live: "Send for real",
	add: "Set up a relay, Amazon SES or direct delivery",
	now: "Mail leaves through {name}",
	later: "Once you have a sender, a test email to yourself checks it here and shows the server's answer.",
	other: "Choose another",
});

/** LaneStep chooses the MTA config by which the account's mail leaves. */
export function LaneStep({ account }: { account: AccountSessionView }) {
	const client = useQueryClient();
	const changed = useSetupChanged();
	const disabledReason = useDisabledReason("POST /mta-configs");
	const [choosing, setChoosing] = useState(false);
	const [adding, setAdding] = useState(false);
	const [idempotencyKey] = useState(newKey);
	const lanes = useCollection("mta_configs");
	const use = async (lane: MtaConfigRow) => {
		client.setQueryData(
			accountQuery().queryKey,
			await api("PUT /settings/account", { body: { default_mta_config_key: lane.key } }),
		);
		setChoosing(false);
		setAdding(false);
		await changed("mta_configs");
	};
	const choose = useMutation({
		mutationFn: async (lane: MtaConfigRow | null) =>
			use(
				lane ?? (await api("POST /mta-configs", { body: { name: words.mailboxName, type: "sink" }, idempotencyKey })),
			),
	});
	const senders = useCollection("sending_identities");
	if (lanes.isPending) return <Skeleton rows={4} />;
	if (lanes.isError) return <Failure error={lanes.error} retry={() => void lanes.refetch()} />;
	const all = lanes.data.data;
	const current = all.find((lane) => lane.key === account.default_mta_config_key);
	if (current?.active && !choosing) {
		return (
			<>
				<Card
					title={words.now({ name: current.name })}
					actions={
						<Button small disabledReason={disabledReason} onClick={() => setChoosing(true)}>
							{words.other}
						</Button>
					}
				>
					<p>{mtaTypes[current.type]}</p>
				</Card>
				{senders.data?.data.some((sender) => sender.active) ? (
					<Health lane={current} />
				) : (
					<>
						<ConnectionTest lane={current} />
						<p>{words.later}</p>
					</>
				)}
			</>
		);
	}
	const sink = all.find((lane) => lane.type === "sink" && lane.active);
	const others = all.filter((lane) => lane.active && lane.type !== "sink");
	return (
		<>
			{choose.error && <p role="alert">{explain(choose.error)}</p>}
			<Card title={words.try}>
				<p>{words.tryText}</p>
				<div>
					<Button
						variant={adding ? "default" : "primary"}
						disabledReason={disabledReason}
						busy={choose.isPending}
						onClick={() => choose.mutate(sink ?? null)}
					>
						{words.mailbox}
					</Button>
				</div>
			</Card>
			{others.length > 0 && (
				<Card title={words.there}>
					{others.map((lane) => (
						<div key={lane.id}>
							<Button disabledReason={disabledReason} busy={choose.isPending} onClick={() => choose.mutate(lane)}>
								{words.use({ name: lane.name })}
							</Button>
						</div>
					))}
				</Card>
			)}
			{adding ? (
				<Suspense fallback={<Skeleton rows={8} />}>
					<Editor onSaved={use} onCancel={() => setAdding(false)} />
				</Suspense>
			) : (
				<Card title={words.live}>
					<div>
						<Button disabledReason={disabledReason} onClick={() => setAdding(true)}>
							{words.add}
						</Button>
					</div>
				</Card>
			)}
		</>
	);
}

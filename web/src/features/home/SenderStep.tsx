import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { api, newKey } from "../../api/client";
import type { AccountSessionView } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useWhyNot } from "../../base/session";
import senders from "../sending/Senders.module.css";
import { Button, LinkButton } from "../../ui/Button";
import { DrawerAction } from "../../ui/DrawerAction";
import { Checkbox, Select, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { Card, Callout } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { useSetupChanged } from "./Setup";
import { accountQuery } from "../settings/queries";
import { domainsQuery } from "../sending/queries";

const words = catalogue("home.senderStep", {
	noDomain: "Add your domain first. A sender needs an address on it.",
	addDomain: "Add domain",
	name: "Name that recipients see",
	local: "Address before the @",
	domain: "Domain",
	reply: "Reply-to address",
	replyHelp: "An address that somebody reads.",
	types: "Email types",
	line: "In the inbox",
	save: "Save",
	now: "{email} is the sender unless an email has its own.",
	use: "Use {email}",
	exists: "Already set up",
});

/** SenderStep makes a sender on the account's domain, and the one that writes by default. */
export function SenderStep({ account: a }: { account: AccountSessionView }) {
	const client = useQueryClient();
	const changed = useSetupChanged();
	const why = useWhyNot("POST /sending-identities");
	const [idempotencyKey] = useState(newKey);
	const domains = useQuery(domainsQuery());
	const types = useCollection("email_types");
	const identities = useCollection("sending_identities");
	const id = useId();
	const form = useForm(
		{ display_name: a.name, local: "news", domain: "", reply_to: "", email_type_ids: null as string[] | null },
		{ email_address: "local" },
	);
	const v = form.values;
	const use = async (email: string) => {
		client.setQueryData(
			accountQuery().queryKey,
			await api("PUT /settings/account", { body: { default_sending_identity_email: email } }),
		);
		await changed("sending_identities");
	};
	const choose = useMutation({ mutationFn: use });
	if (domains.isPending || types.isPending || identities.isPending) return <Skeleton rows={6} />;
	const known = domains.data?.data ?? [];
	const domain = v.domain || known.find((d) => d.status === "verified")?.domain || known[0]?.domain || "";
	const kinds = types.data?.data ?? [];
	const chosen = v.email_type_ids ?? (kinds[0] ? [kinds[0].id] : []);
	const email = `${v.local.trim()}@${domain}`;
	const all = identities.data?.data ?? [];
	const current = all.find((s) => s.id === a.default_sending_identity_id);
	const save = () =>
		form.submit(async () => {
			await api("POST /sending-identities", {
				body: {
					email_address: email,
					display_name: v.display_name,
					reply_to: v.reply_to.trim() || null,
					email_type_ids: chosen,
					active: true,
				},
				idempotencyKey,
			});
			await use(email);
		});
	if (!domain) {
		return (
			<Callout tone="warning" title={words.noDomain}>
				<LinkButton small to="/?step=sending_domain">
					{words.addDomain}
				</LinkButton>
			</Callout>
		);
	}
	const p = form.problems.byPath;
	return (
		<>
			{current?.active && <p>{words.now({ email: current.email_address })}</p>}
			{choose.error && <p role="alert">{explain(choose.error)}</p>}
			{!current && all.some((s) => s.active) && (
				<Card title={words.exists}>
					{all
						.filter((s) => s.active)
						.map((s) => (
							<div key={s.id}>
								<Button why={why} busy={choose.isPending} onClick={() => choose.mutate(s.email_address)}>
									{words.use({ email: s.email_address })}
								</Button>
							</div>
						))}
				</Card>
			)}
			{!current?.active && (
				<form
					id={id}
					noValidate
					style={{ display: "contents" }}
					onSubmit={(e) => {
						e.preventDefault();
						if (!why) void save();
					}}
				>
					<FormProblems problems={form.problems} />
					<TextField
						label={words.name}
						path="display_name"
						value={v.display_name}
						onChange={(display_name) => form.set({ display_name })}
						error={p.display_name}
					/>
					{known.length > 1 && (
						<Select
							label={words.domain}
							value={domain}
							onChange={(d) => form.set({ domain: d })}
							choices={known.map((d) => ({ value: d.domain, label: d.domain }))}
						/>
					)}
					<TextField
						label={words.local}
						after={`@${domain}`}
						value={v.local}
						onChange={(local) => form.set({ local })}
						error={p.email_address}
						autoCapitalize="off"
						spellCheck={false}
					/>
					<p className={senders.line}>
						<span className="visually-hidden">{words.line}: </span>
						<b>{v.display_name}</b> &lt;{email}&gt;
					</p>
					<TextField
						label={words.reply}
						optional
						type="email"
						help={words.replyHelp}
						path="reply_to"
						value={v.reply_to}
						onChange={(reply_to) => form.set({ reply_to })}
						error={p.reply_to}
					/>
					<fieldset className={senders.types}>
						<legend>{words.types}</legend>
						{kinds.map((t) => (
							<Checkbox
								key={t.id}
								label={t.display_name}
								checked={chosen.includes(t.id)}
								onChange={(on) =>
									form.set({ email_type_ids: on ? [...chosen, t.id] : chosen.filter((x) => x !== t.id) })
								}
							/>
						))}
					</fieldset>
					<DrawerAction form={id} busy={form.busy} why={why}>
						{words.save}
					</DrawerAction>
				</form>
			)}
		</>
	);
}

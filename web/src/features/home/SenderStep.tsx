import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { api, newKey } from "../../api/client";
import type { AccountSessionView } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useDisabledReason } from "../../base/session";
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
export function SenderStep({ account }: { account: AccountSessionView }) {
	const client = useQueryClient();
	const changed = useSetupChanged();
	const disabledReason = useDisabledReason("POST /sending-identities");
	const [idempotencyKey] = useState(newKey);
	const domains = useQuery(domainsQuery());
	const types = useCollection("email_types");
	const identities = useCollection("sending_identities");
	const id = useId();
	const form = useForm(
		{ display_name: account.name, local: "news", domain: "", reply_to: "", email_type_ids: null as string[] | null },
		{ email_address: "local" },
	);
	const values = form.values;
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
	const domain =
		values.domain || known.find((domain) => domain.status === "verified")?.domain || known[0]?.domain || "";
	const kinds = types.data?.data ?? [];
	const selected = values.email_type_ids ?? (kinds[0] ? [kinds[0].id] : []);
	const email = `${values.local.trim()}@${domain}`;
	const all = identities.data?.data ?? [];
	const current = all.find((sender) => sender.id === account.default_sending_identity_id);
	const save = () =>
		form.submit(async () => {
			await api("POST /sending-identities", {
				body: {
					email_address: email,
					display_name: values.display_name,
					reply_to: values.reply_to.trim() || null,
					email_type_ids: selected,
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
	const problems = form.problems.byPath;
	return (
		<>
			{current?.active && <p>{words.now({ email: current.email_address })}</p>}
			{choose.error && <p role="alert">{explain(choose.error)}</p>}
			{!current && all.some((sender) => sender.active) && (
				<Card title={words.exists}>
					{all
						.filter((sender) => sender.active)
						.map((sender) => (
							<div key={sender.id}>
								<Button
									disabledReason={disabledReason}
									busy={choose.isPending}
									onClick={() => choose.mutate(sender.email_address)}
								>
									{words.use({ email: sender.email_address })}
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
					onSubmit={(event) => {
						event.preventDefault();
						if (!disabledReason) void save();
					}}
				>
					<FormProblems problems={form.problems} />
					<TextField
						label={words.name}
						path="display_name"
						value={values.display_name}
						onChange={(display_name) => form.set({ display_name })}
						error={problems.display_name}
					/>
					{known.length > 1 && (
						<Select
							label={words.domain}
							value={domain}
							onChange={(value) => form.set({ domain: value })}
							choices={known.map((domain) => ({ value: domain.domain, label: domain.domain }))}
						/>
					)}
					<TextField
						label={words.local}
						after={`@${domain}`}
						value={values.local}
						onChange={(local) => form.set({ local })}
						error={problems.email_address}
						autoCapitalize="off"
						spellCheck={false}
					/>
					<p className={senders.line}>
						<span className="visually-hidden">{words.line}: </span>
						<b>{values.display_name}</b> &lt;{email}&gt;
					</p>
					<TextField
						label={words.reply}
						optional
						type="email"
						help={words.replyHelp}
						path="reply_to"
						value={values.reply_to}
						onChange={(reply_to) => form.set({ reply_to })}
						error={problems.reply_to}
					/>
					<fieldset className={senders.types}>
						<legend>{words.types}</legend>
						{kinds.map((kind) => (
							<Checkbox
								key={kind.id}
								label={kind.display_name}
								checked={selected.includes(kind.id)}
								onChange={(checked) =>
									form.set({
										email_type_ids: checked ? [...selected, kind.id] : selected.filter((id) => id !== kind.id),
									})
								}
							/>
						))}
					</fieldset>
					<DrawerAction form={id} busy={form.busy} disabledReason={disabledReason}>
						{words.save}
					</DrawerAction>
				</form>
			)}
		</>
	);
}

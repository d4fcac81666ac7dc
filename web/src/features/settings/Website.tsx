import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, newKey, request } from "../../api/client";
import type { AccountSessionView } from "../../api/schema";
import { useOptions, useDisabledReason } from "../../base/session";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Copy } from "../../ui/Copy";
import { Confirm } from "../../ui/Dialog";
import { Checkbox, Select, TextArea } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { RestoredCallout, useDraftForm } from "../../ui/draftForm";
import { Card, Callout, Page } from "../../ui/Page";
import { Secret } from "../../ui/Secret";
import { Source } from "../../ui/Source";
import { Failure, Skeleton } from "../../ui/States";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import css from "./Webhooks.module.css";
import { within } from "../../base/queries";
import { accountQuery } from "./queries";
import { domainsQuery } from "../sending/queries";
import { to } from "../../base/paths";

const words = catalogue("settings.website", {
	title: "Website",
	settings: "Settings",
	about: "A script records which pages your contacts view and what they do there, for segments, scores and timelines.",
	snippet: "Script",
	snippetAbout: "Put this on every page of your website. It is under 5 KB, sets no cookies and loads nothing else.",
	host: "Loaded from",
	installation: "{host} (this installation)",
	tracking: "{host} (tracking host)",
	consent: "Wait for consent",
	consentHelp: "Nothing is stored or sent until your page calls packetboat('consent', 'grant').",
	copy: "Copy",
	calls: "What your page can report",
	callList: {
		identify: "The visitor gave this address.",
		event: "Something happened. Name, properties and kind are the same as in the API.",
		consent: "The visitor agreed or declined.",
		reset: "The person signed out. The browser counts as a new visitor.",
	},
	domains: "Tracked domains",
	domainsAbout:
		"Links in emails to these hosts carry a token that tells the script who followed them. Machines that follow links are recognised.",
	hosts: "Hosts, one per line",
	hostsHelp: "As they appear in links, such as www.example.com.",
	save: "Save",
	saved: "Saved",
	identity: "Signed identities",
	identityAbout:
		"Anybody can enter any address on a page. With a secret, your server proves who is signed in. Only then are the fields of known contacts updated and pending contacts activated.",
	on: "On",
	off: "Off",
	create: "Switch on",
	rotate: "Rotate secret",
	rotateTitle: "Rotate secret?",
	rotateText: "The previous secret keeps working for 24 hours. Change it on your server in that time.",
	remove: "Switch off",
	removeTitle: "Switch off signed identities?",
	removeText: "From now on, identities signed by your server count as entered by anybody. The secret is deleted.",
	secret: "Secret for signed identities",
	confirm: "identity",
	language: "Example for your server",
	page: "On the page",
	pageAbout: "Your server writes the hash into the page. The secret must never appear on the page itself.",
});

const samples: { [language: string]: { name: string; code: string } } = {
	node: {
		name: "Node.js",
		code: `import { createHmac } from "node:crypto";

const emailHash = createHmac("sha256", process.env.PACKETBOAT_IDENTITY_SECRET)
  .update(user.email.toLowerCase())
  .digest("hex");`,
	},
	python: {
		name: "Python",
		code: `import hashlib, hmac, os

email_hash = hmac.new(
    os.environ["PACKETBOAT_IDENTITY_SECRET"].encode(),
    user.email.lower().encode(),
    hashlib.sha256,
).hexdigest()`,
	},
	php: {
		name: "PHP",
		code: `$emailHash = hash_hmac('sha256', mb_strtolower($user->email), getenv('PACKETBOAT_IDENTITY_SECRET'));`,
	},
	ruby: {
		name: "Ruby",
		code: `require "openssl"

email_hash = OpenSSL::HMAC.hexdigest("SHA256", ENV["PACKETBOAT_IDENTITY_SECRET"], user.email.downcase)`,
	},
	go: {
		name: "Go",
		code: `mac := hmac.New(sha256.New, []byte(os.Getenv("PACKETBOAT_IDENTITY_SECRET")))
mac.Write([]byte(strings.ToLower(user.Email)))
emailHash := hex.EncodeToString(mac.Sum(nil))`,
	},
};

const pageCode = `packetboat('identify', { email: 'ann@example.org', email_hash: '…' });`;

const calls = [
	["packetboat('identify', 'ann@example.org', { first_name: 'Ann' })", "identify"],
	["packetboat('event', 'plan_chosen', { plan: 'gold' })", "event"],
	["packetboat('consent', 'grant')", "consent"],
	["packetboat('reset')", "reset"],
] as const;

/** Website sets up the script that reports what visitors of a website do. */
export default function Website() {
	const account = useQuery(accountQuery());
	return (
		<Page title={words.title} breadcrumbs={[{ name: words.settings, to: to.settings() }]} description={words.about}>
			{account.isPending ? (
				<Skeleton rows={10} />
			) : account.isError ? (
				<Failure error={account.error} retry={() => void account.refetch()} />
			) : (
				<>
					<Snippet account={account.data} />
					<Domains account={account.data} />
					<Identity account={account.data} />
				</>
			)}
		</Page>
	);
}

function Snippet({ account }: { account: AccountSessionView }) {
	const options = useOptions();
	const domains = useQuery(domainsQuery());
	const base = options.data?.base_url ?? location.origin;
	const scheme = new URL(base).protocol;
	const hosts = [
		...new Set(
			(domains.data?.data ?? [])
				.filter((domain) => domain.tracking_status === "live")
				.map((domain) => `${scheme}//${domain.tracking_host}`),
		),
	].filter((header) => header !== base);
	const [selected, setSelected] = useState("");
	const [consent, setConsent] = useState(false);
	const host = selected || hosts[0] || base;
	const code = `<script async src="${host}/_q/s.js?k=${account.site_key}"${consent ? ' data-consent="required"' : ""}></script>`;
	return (
		<Card
			title={words.snippet}
			actions={
				<Copy text={code} subject={words.snippet}>
					{words.copy}
				</Copy>
			}
		>
			<p>{words.snippetAbout}</p>
			<Select
				label={words.host}
				value={host}
				onChange={setSelected}
				choices={[
					...hosts.map((host) => ({ value: host, label: words.tracking({ host: new URL(host).host }) })),
					{ value: base, label: words.installation({ host: new URL(base).host }) },
				]}
			/>
			<Checkbox label={words.consent} help={words.consentHelp} checked={consent} onChange={setConsent} />
			<Source text={code} label={words.snippet} />
			<h3>{words.calls}</h3>
			<dl className={css.calls}>
				{calls.map(([call, name]) => (
					<div key={name}>
						<dt>
							<code className={css.url}>{call}</code>
						</dt>
						<dd>{words.callList[name]}</dd>
					</div>
				))}
			</dl>
		</Card>
	);
}

function Domains({ account }: { account: AccountSessionView }) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("PUT /settings/account");
	const valuesOf = (account: AccountSessionView) => ({ tracked_domains: account.tracked_domains.join("\n") });
	const form = useDraftForm(valuesOf(account), {
		kind: "tracked_domains",
		id: account.tenant_id,
		title: words.domains,
		canEdit: !disabledReason,
		read: async () => {
			const response = await request("GET /settings/account", {});
			return { values: valuesOf(response.data), revision: response.revision };
		},
		names: { tracked_domains: words.hosts },
	});
	const send = () =>
		form.submit(async (values, revision) => {
			const saved = await api("PUT /settings/account", {
				body: { tracked_domains: values.tracked_domains.split(/[\s,]+/).filter(Boolean) },
				revision,
			});
			client.setQueryData(accountQuery().queryKey, saved);
			toast(words.saved);
		});
	return (
		<Card title={words.domains}>
			<form
				noValidate
				className={css.groups}
				onSubmit={(event) => {
					event.preventDefault();
					if (!disabledReason) void send();
				}}
			>
				<RestoredCallout form={form} />
				<FormProblems problems={form.problems} />
				<div className={css.muted}>{words.domainsAbout}</div>
				<TextArea
					code
					rows={3}
					label={words.hosts}
					help={words.hostsHelp}
					path="tracked_domains"
					value={form.values.tracked_domains}
					onChange={(tracked_domains) => form.set({ tracked_domains })}
					error={form.problems.byPath.tracked_domains}
					readOnly={disabledReason !== undefined}
					spellCheck={false}
				/>
				<div>
					<Button type="submit" disabledReason={disabledReason} busy={form.busy}>
						{words.save}
					</Button>
				</div>
			</form>
		</Card>
	);
}

function Identity({ account }: { account: AccountSessionView }) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /settings/account/identity-secret");
	const [asking, setAsking] = useState<"rotate" | "remove" | null>(null);
	const [secret, setSecret] = useState<string | null>(null);
	const [language, setLanguage] = useState("node");
	const enabled = account.identity_signing_enabled;
	const action = useMutation({
		mutationFn: async (action: "create" | "rotate" | "remove") => {
			if (action === "remove") await api("DELETE /settings/account/identity-secret", {});
			else setSecret((await api("POST /settings/account/identity-secret", { idempotencyKey: newKey() })).secret);
		},
		onSuccess: () => {
			setAsking(null);
			void client.invalidateQueries(within("account"));
		},
	});
	const sample = samples[language] ?? { name: "", code: "" };
	return (
		<Card
			title={
				<>
					{words.identity}{" "}
					{enabled ? <Badge tone="success">{words.on}</Badge> : <Badge tone="neutral">{words.off}</Badge>}
				</>
			}
			actions={
				enabled ? (
					<>
						<Button small disabledReason={disabledReason} onClick={() => setAsking("rotate")}>
							{words.rotate}
						</Button>
						<Button small variant="quiet" disabledReason={disabledReason} onClick={() => setAsking("remove")}>
							{words.remove}
						</Button>
					</>
				) : (
					<Button small disabledReason={disabledReason} busy={action.isPending} onClick={() => action.mutate("create")}>
						{words.create}
					</Button>
				)
			}
		>
			<p>{words.identityAbout}</p>
			{action.error && !asking && <Callout tone="danger">{explain(action.error)}</Callout>}
			<div className={css.samples}>
				<Select
					label={words.language}
					value={language}
					onChange={setLanguage}
					choices={Object.entries(samples).map(([value, sample]) => ({ value, label: sample.name }))}
				/>
				<Source text={sample.code} label={sample.name} />
				<h3>{words.page}</h3>
				<p className={css.muted}>{words.pageAbout}</p>
				<Source text={pageCode} label={words.page} />
			</div>
			{asking && (
				<Confirm
					title={asking === "rotate" ? words.rotateTitle : words.removeTitle}
					action={asking === "rotate" ? words.rotate : words.remove}
					type={words.confirm}
					busy={action.isPending}
					error={action.error && <p role="alert">{explain(action.error)}</p>}
					onConfirm={() => action.mutate(asking)}
					onClose={() => setAsking(null)}
				>
					<p>{asking === "rotate" ? words.rotateText : words.removeText}</p>
				</Confirm>
			)}
			{secret && <Secret title={words.secret} secret={secret} onClose={() => setSecret(null)} />}
		</Card>
	);
}

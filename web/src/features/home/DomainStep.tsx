import { useMutation, useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { api, newKey } from "../../api/client";
import type { SendingDomain } from "../../api/schema";
import { useDisabledReason, useWorkspace } from "../../base/session";
import { Records } from "../sending/Records";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { DrawerAction } from "../../ui/DrawerAction";
import { TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { Card } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { useSetupChanged } from "./Setup";
import { domainsQuery } from "../sending/queries";

const words = catalogue("home.domainStep", {
	domain: "Domain",
	help: "For example news.example.com. A subdomain keeps your main domain's reputation separate.",
	add: "Add domain",
	check: "Check now",
	try: "I am only trying it out",
	tryText:
		"This installation runs on your own machine, which is not in the DNS. The domain then counts as verified without records. Links in emails lead to this machine and work only here.",
	trackingHost: "Host for links in emails",
	accept: "Mark as verified",
});

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

const ready = (domain: SendingDomain) => domain.status === "verified" && domain.tracking_status === "live";

/** DomainStep adds a sending domain, and shows its records until they are found. */
export function DomainStep() {
	const changed = useSetupChanged();
	const disabledReason = useDisabledReason("POST /sending-domains");
	const [idempotencyKey] = useState(newKey);
	const domains = useQuery({
		...domainsQuery(),
		refetchInterval: (query) => (query.state.data?.data.some((domain) => !ready(domain)) ? 10_000 : false),
	});
	const id = useId();
	const form = useForm({ domain: "" });
	const add = () =>
		form.submit(async () => {
			await api("POST /sending-domains", { body: { domain: form.values.domain.trim().toLowerCase() }, idempotencyKey });
			await changed("domains");
		});
	if (domains.isPending) return <Skeleton rows={6} />;
	if (domains.isError) return <Failure error={domains.error} retry={() => void domains.refetch()} />;
	const all = domains.data.data;
	const domain = all.find(ready) ?? all[0];
	if (domain) return <Waiting domain={domain} />;
	return (
		<form
			id={id}
			noValidate
			style={{ display: "contents" }}
			onSubmit={(event) => {
				event.preventDefault();
				if (!disabledReason) void add();
			}}
		>
			<FormProblems problems={form.problems} />
			<TextField
				label={words.domain}
				help={words.help}
				path="domain"
				value={form.values.domain}
				onChange={(domain) => form.set({ domain })}
				error={form.problems.byPath.domain}
				autoCapitalize="off"
				spellCheck={false}
			/>
			<DrawerAction form={id} busy={form.busy} disabledReason={disabledReason}>
				{words.add}
			</DrawerAction>
		</form>
	);
}

function Waiting({ domain }: { domain: SendingDomain }) {
	const changed = useSetupChanged();
	const disabledReason = useDisabledReason("POST /sending-domains/{id}/verify");
	const verify = useMutation({
		mutationFn: () => api("POST /sending-domains/{id}/verify", { path: { id: domain.id }, body: {} }),
		onSuccess: () => changed("domains", "domain"),
	});
	return (
		<>
			<Card
				title={domain.domain}
				actions={
					<Button small disabledReason={disabledReason} busy={verify.isPending} onClick={() => verify.mutate()}>
						{words.check}
					</Button>
				}
			>
				<p role="status">
					<StateBadge kind="domain" state={domain.status} />{" "}
					<StateBadge kind="tracking" state={domain.tracking_status} />
				</p>
				{verify.error && <p role="alert">{explain(verify.error)}</p>}
			</Card>
			{!ready(domain) && loopback.test(location.hostname) && <TryOut domain={domain} />}
			<Records domain={domain} />
		</>
	);
}

function TryOut({ domain }: { domain: SendingDomain }) {
	const changed = useSetupChanged();
	const workspace = useWorkspace();
	const form = useForm({ tracking_host: location.host });
	const accept = () =>
		form.submit(async () => {
			await api("POST /sending-domains/{id}/verify", {
				path: { id: domain.id },
				body: { operator: true, tracking_host: form.values.tracking_host.trim() },
			});
			await changed("domains", "domain");
		});
	if (workspace?.role !== "owner") return null;
	return (
		<Card title={words.try}>
			<form
				noValidate
				style={{ display: "contents" }}
				onSubmit={(event) => {
					event.preventDefault();
					void accept();
				}}
			>
				<p>{words.tryText}</p>
				<FormProblems problems={form.problems} />
				<TextField
					label={words.trackingHost}
					path="tracking_host"
					value={form.values.tracking_host}
					onChange={(tracking_host) => form.set({ tracking_host })}
					error={form.problems.byPath.tracking_host}
				/>
				<div>
					<Button type="submit" busy={form.busy}>
						{words.accept}
					</Button>
				</div>
			</form>
		</Card>
	);
}

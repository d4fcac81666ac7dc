import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useLocation, useParams } from "wouter";
import { api } from "../../api/client";
import type { SendingDomain } from "../../api/schema";
import { useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { isGone, NotFound } from "../../ui/NotFound";
import { InUse } from "../../ui/Holders";
import { Menu } from "../../ui/Menu";
import { Card, Facts, Callout, Page } from "../../ui/Page";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { stateOf } from "../../base/words/status";
import { DomainHealth } from "./DomainHealth";
import { Records } from "./Records";
import { Rotation } from "./Rotation";
import { within } from "../../base/queries";
import { domainQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("sending.domain", {
	sending: "Sending setup",
	check: "Check now",
	rotate: "Replace signing key",
	rotateText:
		"A new key is published next to the old one. It is used once its record is found. The old one can be removed seven days later.",
	rotation: "The signing key is being replaced",
	resume: "Resume",
	resumeText: "Its rates start again from zero. Earlier emails no longer count.",
	delete: "Delete domain",
	deleteTitle: "Delete {d}?",
	deleteText:
		"Its records here and its signing keys are deleted permanently and immediately. Links in emails already sent work only as long as their DNS records point here, and bounces are no longer recognised.",
	details: "Details",
	since: "Failing since",
	checked: "Checked",
	verified: "Verified",
	by: "by the operator",
	returnPath: "Return path",
	trackingHost: "Tracking host",
	tracking: "Tracking:",
	dmarc: "DMARC policy",
	next: "Next check",
});

/** DomainPage shows a sending domain with its DNS records: wanted beside found. */
export default function DomainPage() {
	const { id = "" } = useParams<{ id: string }>();
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const disabledReason = useDisabledReason("POST /sending-domains/{id}/verify");
	const [deleting, setDeleting] = useState(false);
	const [rotating, setRotating] = useState(false);
	const domain = useQuery(domainQuery(id));
	const updateDomain = (domain: SendingDomain) => {
		client.setQueryData(domainQuery(id).queryKey, domain);
		void client.invalidateQueries(within("domains"));
	};
	const failed = (error: unknown) => toast(explain(error), { tone: "danger" });
	const verify = useMutation({
		mutationFn: () => api("POST /sending-domains/{id}/verify", { path: { id }, body: {} }),
		onSuccess: updateDomain,
		onError: failed,
	});
	const resume = useMutation({
		mutationFn: () => api("POST /sending-domains/{id}/resume", { path: { id } }),
		onSuccess: updateDomain,
		onError: failed,
	});
	const rotate = useMutation({
		mutationFn: () => api("POST /sending-domains/{id}/rotate-dkim", { path: { id } }),
		onSuccess: (domain) => {
			updateDomain(domain);
			setRotating(false);
		},
	});
	const remove = useMutation({
		mutationFn: () => api("DELETE /sending-domains/{id}", { path: { id } }),
		onSuccess: () => {
			void client.invalidateQueries(within("domains"));
			navigate(to.sending());
		},
	});
	const breadcrumbs = [{ name: words.sending, to: to.sending() }];
	const d = domain.data;
	if (!d || isGone(domain.error))
		return <NotFound query={domain} list={words.sending} to={to.sending()} breadcrumbs={breadcrumbs} />;
	return (
		<Page
			title={d.domain}
			breadcrumbs={breadcrumbs}
			status={
				<>
					<StateBadge kind="domain" state={d.status} />
					<span>
						{words.tracking} <StateBadge kind="tracking" state={d.tracking_status} />
					</span>
				</>
			}
			actions={
				<>
					<Button
						variant="primary"
						disabledReason={disabledReason}
						busy={verify.isPending}
						onClick={() => verify.mutate()}
					>
						{words.check}
					</Button>
					<Menu
						actions={[
							{
								id: "rotate",
								label: words.rotate,
								disabledReason: disabledReason ?? (d.dkim_rotation ? words.rotation : undefined),
								run: () => setRotating(true),
							},
							{ id: "delete", label: words.delete, danger: true, disabledReason, run: () => setDeleting(true) },
						]}
					/>
				</>
			}
		>
			{d.paused && (
				<Callout tone="danger" title={stateOf("domainPause", d.pause_reason ?? "").word}>
					<p>
						{stateOf("domainPause", d.pause_reason ?? "").sentence} {words.resumeText}
					</p>
					<Button small disabledReason={disabledReason} busy={resume.isPending} onClick={() => resume.mutate()}>
						{words.resume}
					</Button>
				</Callout>
			)}
			{d.dkim_rotation && <Rotation rotation={d.dkim_rotation} selector={d.dkim_selector} />}
			<Records domain={d} />
			{d.health && <DomainHealth health={d.health} />}
			<Card title={words.details}>
				<Facts
					rows={[
						[
							words.verified,
							d.verified_at && (
								<span key="v">
									<Time at={d.verified_at} /> {d.verified_by === "operator" && words.by}
								</span>
							),
						],
						...(d.failing_since ? [[words.since, <Time key="f" at={d.failing_since} />] as [string, ReactNode]] : []),
						[words.returnPath, d.return_path_host],
						[words.trackingHost, d.tracking_host],
						[words.dmarc, d.dmarc_policy],
						[words.checked, d.last_checked_at && <Time key="c" at={d.last_checked_at} />],
						[words.next, d.next_check_at && <Time key="n" at={d.next_check_at} />],
					]}
				/>
			</Card>
			{rotating && (
				<Confirm
					title={words.rotate}
					action={words.rotate}
					danger={false}
					busy={rotate.isPending}
					error={rotate.error && <p role="alert">{explain(rotate.error)}</p>}
					onConfirm={() => rotate.mutate()}
					onClose={() => setRotating(false)}
				>
					<p>{words.rotateText}</p>
				</Confirm>
			)}
			{deleting && (
				<Confirm
					title={words.deleteTitle({ d: d.domain })}
					action={words.delete}
					type={d.domain}
					busy={remove.isPending}
					error={remove.error && <InUse error={remove.error} />}
					onConfirm={() => remove.mutate()}
					onClose={() => setDeleting(false)}
				>
					<p>{words.deleteText}</p>
				</Confirm>
			)}
		</Page>
	);
}

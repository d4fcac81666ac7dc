import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useParams } from "wouter";
import { api, isConflict, newKey } from "../../api/client";
import { useParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Copy } from "../../ui/Copy";
import { Confirm, Dialog } from "../../ui/Dialog";
import { isGone, NotFound } from "../../ui/NotFound";
import { List } from "../../ui/List";
import { Menu } from "../../ui/Menu";
import { Card, Facts, NotSet, Callout, Page } from "../../ui/Page";
import { Secret } from "../../ui/Secret";
import { Source } from "../../ui/Source";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { exact } from "../../base/words/formats";
import { explain } from "../../base/words/errors";
import { eventNames } from "../../base/words/events";
import { attemptError } from "../../base/words/replies";
import { EditWebhook } from "./Webhooks";
import css from "./Webhooks.module.css";
import { within } from "../../base/queries";
import { deliveriesQuery, deliveryQuery, webhookQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("settings.webhook", {
	settings: "Settings",
	webhooks: "Webhooks",
	edit: "Edit",
	test: "Send test event",
	tested: "A test event is on its way.",
	rotate: "Rotate secret",
	rotateTitle: "Rotate secret?",
	rotateText:
		"For 24 hours, requests carry two signatures, one with each secret, so that you can switch your program over without interruption. Rotating again within that time ends the oldest secret.",
	secret: "New webhook secret",
	events: "Events",
	note: "Description",
	success: "Last success",
	failure: "Last failure",
	gone: "Switched off automatically: the server answered that the URL is gone (410).",
	failing: "Switched off automatically: all attempts failed for five days.",
	byUser: "Switched off. Events that happen now are not kept for it.",
	activate: "Switch on",
	activated: "Switched on. You can replay what failed in the meantime.",
	deliveries: "Deliveries",
	empty: "Nothing sent yet",
	emptyText: "Send a test event, or wait for the first event. Deliveries are kept for 30 days.",
	event: "Event",
	status: "Status",
	attempts: "Attempts",
	answer: "Response",
	when: "When",
	more: "Load more",
	one: "Delivery",
	created: "Event time",
	last: "Last attempt",
	next: "Next attempt",
	code: "Response status",
	took: "Duration",
	ms: "{count, number} ms",
	error: "Error",
	request: "Request",
	response: "Response",
	noResponse: "There was no response.",
	emptyBody: "The response has no body.",
	replay: "Replay",
	replayed: "Sent again, with the same ID and body.",
	close: "Close",
	count: "{count, plural, one {# attempt} other {# attempts}}",
	idAbout: "All attempts have the same ID in the Webhook-Id header, after msg_:",
});

/** prettyJson writes JSON on several lines; other texts stay as they are. */
function prettyJson(text: string): string {
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	} catch {
		return text;
	}
}

/** WebhookPage shows an endpoint with what was sent to it. */
export default function WebhookPage() {
	const { id = "" } = useParams<{ id: string }>();
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const disabledReason = useDisabledReason("GET /settings/webhooks/{id}");
	const [editing, setEditing] = useParam("edit");
	const [open, setOpen] = useParam("delivery");
	const [rotating, setRotating] = useState(false);
	const [secret, setSecret] = useState<string | null>(null);
	const hook = useQuery({ ...webhookQuery(id), enabled: !disabledReason });
	const list = useInfiniteQuery({ ...deliveriesQuery(id), enabled: !disabledReason });
	const refresh = () =>
		Promise.all([client.invalidateQueries(within("webhook", id)), client.invalidateQueries(within("webhooks"))]);
	const failed = (error: unknown) => {
		toast(explain(error), { tone: "danger" });
		if (isConflict(error)) void refresh();
	};
	const revision = hook.data?.revision ?? undefined;
	const test = useMutation({
		mutationFn: () => api("POST /settings/webhooks/{id}/test", { path: { id }, idempotencyKey: newKey() }),
		onSuccess: () => {
			toast(words.tested);
			void refresh();
		},
		onError: failed,
	});
	const activate = useMutation({
		mutationFn: () => api("PUT /settings/webhooks/{id}", { path: { id }, body: { active: true }, revision }),
		onSuccess: () => {
			toast(words.activated);
			void refresh();
		},
		onError: failed,
	});
	const rotate = useMutation({
		mutationFn: () =>
			api("POST /settings/webhooks/{id}/rotate-secret", { path: { id }, idempotencyKey: newKey(), revision }),
		onSuccess: (created) => {
			setRotating(false);
			setSecret(created.secret);
			void refresh();
		},
		onError: (error) => isConflict(error) && void refresh(),
	});
	const breadcrumbs = [
		{ name: words.settings, to: to.settings() },
		{ name: words.webhooks, to: to.webhooks() },
	];
	if (disabledReason) {
		return (
			<Page title={words.webhooks} breadcrumbs={breadcrumbs.slice(0, 1)}>
				<Callout>{disabledReason}</Callout>
			</Page>
		);
	}
	const webhook = hook.data;
	if (!webhook || isGone(hook.error))
		return (
			<NotFound
				query={hook}
				list={words.webhooks}
				to={to.webhooks()}
				breadcrumbs={breadcrumbs}
				unsavedInput={{ kinds: ["webhook"], id }}
			/>
		);
	const rows = list.data?.pages.flatMap((page) => page.data) ?? [];
	return (
		<Page
			title={webhook.url}
			breadcrumbs={breadcrumbs}
			status={<StateBadge kind="webhook" state={webhook.status} />}
			actions={
				<>
					<Button kind="edit" onClick={() => setEditing("1")}>
						{words.edit}
					</Button>
					<Button
						variant="primary"
						disabledReason={webhook.active ? undefined : words.byUser}
						busy={test.isPending}
						onClick={() => test.mutate()}
					>
						{words.test}
					</Button>
					<Menu actions={[{ id: "rotate", label: words.rotate, run: () => setRotating(true) }]} />
				</>
			}
		>
			{webhook.status === "disabled" && (
				<Callout
					tone={webhook.disabled_reason ? "danger" : "warning"}
					title={
						webhook.disabled_reason === "gone"
							? words.gone
							: webhook.disabled_reason === "failing"
								? words.failing
								: words.byUser
					}
				>
					<Button small busy={activate.isPending} onClick={() => activate.mutate()}>
						{words.activate}
					</Button>
				</Callout>
			)}
			<Card>
				<Facts
					rows={[
						[
							words.events,
							webhook.event_types.includes("*")
								? eventNames["*"]
								: webhook.event_types.map((type) => eventNames[type] ?? type).join(" · "),
						],
						...(webhook.description ? ([[words.note, webhook.description]] as [string, string][]) : []),
						[words.success, webhook.last_success_at && <Time key="s" at={webhook.last_success_at} />],
						[words.failure, webhook.last_failure_at && <Time key="f" at={webhook.last_failure_at} />],
					]}
				/>
			</Card>
			<Card title={words.deliveries}>
				{list.isPending ? (
					<Skeleton rows={4} />
				) : list.isError ? (
					<Failure error={list.error} retry={() => void list.refetch()} />
				) : rows.length === 0 ? (
					<Empty title={words.empty}>{words.emptyText}</Empty>
				) : (
					<List
						label={words.deliveries}
						rows={rows}
						rowKey={(delivery) => delivery.id}
						columns={[
							{
								id: "event",
								name: words.event,
								cell: (delivery) => (
									<button type="button" className={css.open} onClick={() => setOpen(delivery.id)}>
										{eventNames[delivery.event_type] ?? delivery.event_type}
									</button>
								),
							},
							{
								id: "status",
								beside: true,
								name: words.status,
								cell: (delivery) => <StateBadge kind="delivery" state={delivery.status} />,
							},
							{ id: "attempts", name: words.attempts, end: true, cell: (delivery) => delivery.attempts },
							{ id: "answer", name: words.answer, end: true, cell: (delivery) => delivery.response_code ?? <NotSet /> },
							{ id: "when", name: words.when, cell: (delivery) => <Time at={delivery.created_at} /> },
						]}
					/>
				)}
				{list.hasNextPage && (
					<div>
						<Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
							{words.more}
						</Button>
					</div>
				)}
			</Card>
			{editing && (
				<EditWebhook webhook={webhook} onClose={() => setEditing("")} onDeleted={() => navigate(to.webhooks())} />
			)}
			{open && (
				<Delivery webhook={id} id={open} active={webhook.active} onChanged={refresh} onClose={() => setOpen("")} />
			)}
			{rotating && (
				<Confirm
					title={words.rotateTitle}
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
			{secret && <Secret title={words.secret} secret={secret} onClose={() => setSecret(null)} />}
		</Page>
	);
}

function Delivery({
	webhook,
	id,
	active,
	onChanged,
	onClose,
}: {
	webhook: string;
	id: string;
	active: boolean;
	onChanged: () => Promise<unknown>;
	onClose: () => void;
}) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /settings/webhooks/{id}/deliveries/{delivery_id}/replay");
	const path = { id: webhook, delivery_id: id };
	const query = useQuery(deliveryQuery(webhook, id));
	const replay = useMutation({
		mutationFn: () =>
			api("POST /settings/webhooks/{id}/deliveries/{delivery_id}/replay", { path, idempotencyKey: newKey() }),
		onSuccess: () => {
			toast(words.replayed);
			void client.invalidateQueries(within("webhook.delivery", webhook, id));
			void onChanged();
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const delivery = query.data;
	return (
		<Dialog
			drawer="wide"
			title={delivery ? (eventNames[delivery.event_type] ?? delivery.event_type) : words.one}
			onClose={onClose}
			footer={
				<>
					<Button onClick={onClose}>{words.close}</Button>
					<Button
						variant="primary"
						disabledReason={disabledReason ?? (active ? undefined : words.byUser)}
						busy={replay.isPending}
						onClick={() => replay.mutate()}
					>
						{words.replay}
					</Button>
				</>
			}
		>
			{query.isPending ? (
				<Skeleton rows={8} />
			) : query.isError ? (
				<Failure error={query.error} retry={() => void query.refetch()} />
			) : (
				delivery && (
					<>
						<p>
							<StateBadge kind="delivery" state={delivery.status} /> {words.count({ count: delivery.attempts })}
						</p>
						{delivery.error && (
							<Callout
								tone={delivery.status === "failed" ? "danger" : "warning"}
								title={attemptError(delivery.error)}
							/>
						)}
						<Facts
							rows={[
								[words.created, exact(delivery.created_at)],
								[words.last, delivery.last_attempt_at && exact(delivery.last_attempt_at)],
								...(delivery.next_attempt_at
									? ([[words.next, exact(delivery.next_attempt_at)]] as [string, string][])
									: []),
								[words.code, delivery.response_code],
								[words.took, delivery.response_ms === null ? null : words.ms({ count: delivery.response_ms })],
							]}
						/>
						<section className={css.part}>
							<header>
								<h3>{words.request}</h3>
								<Copy text={delivery.request_body} subject={words.request} />
							</header>
							<p className={css.muted}>
								{words.idAbout} <code>{delivery.id}</code>
							</p>
							<Source text={prettyJson(delivery.request_body)} label={words.request} />
						</section>
						<section className={css.part}>
							<h3>{words.response}</h3>
							{delivery.response_body ? (
								<Source text={prettyJson(delivery.response_body)} label={words.response} />
							) : (
								<p className={css.muted}>{delivery.response_code === null ? words.noResponse : words.emptyBody}</p>
							)}
						</section>
					</>
				)
			)}
		</Dialog>
	);
}

import { useInfiniteQuery, useMutation, useQueries, useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { Link } from "wouter";
import { api, newKey } from "../../api/client";
import type { Contact, ImportedSuppressions, SuppressionRow } from "../../api/schema";
import { useParam, useTyped } from "../../base/params";
import { useWhyNot } from "../../base/session";
import { nameOf } from "../contacts/contactFields";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Select, TextArea, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { NotSet, Callout, Page } from "../../ui/Page";
import { Empty, Failure, NoMatch, Skeleton, searched } from "../../ui/States";
import { Table } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toast";
import { Tools } from "../../ui/Tools";
import { addressesIn } from "../../base/words/addresses";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import rowsCss from "../../ui/Rows.module.css";
import { suppressionReason, suppressionReasons } from "../../base/words/suppressions";
import { within } from "../../base/queries";
import { suppressionsQuery } from "./queries";
import { holdersQuery } from "../contacts/queries";
import { to } from "../../base/paths";

const words = catalogue("suppressions.suppressions", {
	title: "Suppression list",
	about: "Addresses that never get email, whoever imports or adds them. Removing an address resubscribes nobody.",
	add: "Add addresses",
	search: "Search addresses",
	reason: "Reason",
	all: "All reasons",
	email: "Address",
	since: "Since",
	contact: "Contact",
	remove: "Remove",
	removeOf: "Remove {email}",
	removed: "{email} removed. This resubscribes nobody.",
	empty: "No address is suppressed",
	emptyText:
		"Addresses are added when email to them bounces permanently, when somebody reports spam, or when you add them.",
	none: "No address matches",
	addresses: "Addresses, one per line",
	valid: "{count, plural, one {# address} other {# addresses}}",
	odd: "{count, plural, one {# does not look like an address} other {# do not look like addresses}}: {examples}",
	tooMany: "No more than 10,000 at a time.",
	why: "Internal reason",
	cancel: "Cancel",
	added: "{added, number} added, {updated, number} were already on the list.",
	invalid: "{count, plural, one {# is not an address:} other {# are not addresses:}}",
});

/** Suppressions is the list of addresses that never get mail. */
export default function Suppressions() {
	const client = useQueryClient();
	const why = useWhyNot("POST /suppressions");
	const [search, setSearch] = useTyped("q");
	const [reason, setReason] = useParam("reason");
	const [adding, setAdding] = useParam("add"); // "1", or the address to add
	const list = useInfiniteQuery(suppressionsQuery(search, reason));
	const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
	const onEnd = useCallback(() => {
		if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
	}, [hasNextPage, isFetchingNextPage, fetchNextPage]);
	const refresh = () => client.invalidateQueries(within("suppressions"));
	const remove = useMutation({
		mutationFn: (s: SuppressionRow) => api("DELETE /suppressions", { query: { email: s.email } }),
		onSuccess: (_, s) => {
			void refresh();
			toast(words.removed({ email: s.email }), {
				undo: () =>
					void api("POST /suppressions", { body: { email: s.email, reason: s.reason }, idempotencyKey: newKey() }).then(
						refresh,
					),
			});
		},
		onError: (e) => toast(explain(e), { tone: "danger" }),
	});
	const rows = list.data?.pages.flatMap((p) => p.data) ?? [];
	const holders = useHolders(list.data?.pages.map((p) => p.data.map((s) => s.email)) ?? []);
	const button = (
		<Button kind="create" why={why} onClick={() => setAdding("1")}>
			{words.add}
		</Button>
	);
	const none = list.isSuccess && rows.length === 0 && !search && !reason;
	return (
		<Page wide title={words.title} description={words.about} actions={!none && button}>
			{!none && (
				<Tools label={words.search} value={search} onChange={setSearch}>
					<Select
						label={words.reason}
						hideLabel
						value={reason}
						onChange={setReason}
						choices={[
							{ value: "", label: words.all },
							...suppressionReasons.map((value) => ({ value, label: suppressionReason(value) ?? value })),
						]}
					/>
				</Tools>
			)}
			{list.isPending ? (
				<Skeleton rows={8} height={36} />
			) : list.isError ? (
				<Failure error={list.error} retry={() => void list.refetch()} />
			) : rows.length === 0 ? (
				search || reason ? (
					<NoMatch
						title={words.none}
						filters={[
							searched(search, setSearch),
							reason !== "" && { name: suppressionReason(reason) ?? reason, drop: () => setReason("") },
						]}
					/>
				) : (
					<Empty title={words.empty} action={button}>
						{words.emptyText}
					</Empty>
				)
			) : (
				<Table
					fill
					label={words.title}
					found={`${search} ${reason}`}
					rows={rows}
					rowKey={(s) => s.email}
					rowName={(s) => s.email}
					onEnd={onEnd}
					columns={[
						{ id: "email", name: words.email, cell: (s) => s.email },
						{ id: "reason", name: words.reason, cell: (s) => suppressionReason(s.reason) ?? <NotSet /> },
						{
							id: "contact",
							name: words.contact,
							width: 200,
							least: 140,
							cell: (s) => {
								const c = holders.get(s.email);
								return c ? (
									<Link href={to.contact(c.id)} tabIndex={-1}>
										{nameOf(c)}
									</Link>
								) : (
									<NotSet />
								);
							},
						},
						{ id: "since", name: words.since, width: 140, least: 88, cell: (s) => <Time at={s.created_at} /> },
						{
							id: "actions",
							name: "",
							width: 112,
							align: "end",
							cell: (s) => (
								<Button
									small
									look="quiet"
									aria-label={words.removeOf({ email: s.email })}
									why={why}
									onClick={() => remove.mutate(s)}
								>
									{words.remove}
								</Button>
							),
						},
					]}
					card={(s) => (
						<span className={rowsCss.card}>
							<span className={rowsCss.name}>
								<b>{s.email}</b>
								<span>{suppressionReason(s.reason)}</span>
							</span>
							<Button
								small
								look="quiet"
								aria-label={words.removeOf({ email: s.email })}
								why={why}
								onClick={() => remove.mutate(s)}
							>
								{words.remove}
							</Button>
						</span>
					)}
				/>
			)}
			{adding && (
				<Add
					first={adding === "1" ? "" : adding}
					onClose={() => {
						setAdding("");
						void refresh();
					}}
				/>
			)}
		</Page>
	);
}

/** useHolders returns the contacts that have the addresses of pages of the list, by address. */
function useHolders(pages: string[][]): Map<string, Contact> {
	const found = useQueries({ queries: pages.map(holdersQuery) });
	return new Map(found.flatMap((f) => (f.data?.data ?? []).map((c) => [c.email, c] as const)));
}

const address = /^[^\s@]+@[^\s@]+$/;

function Add({ first, onClose }: { first: string; onClose: () => void }) {
	const form = useForm({ emails: first, reason: "" });
	const [done, setDone] = useState<ImportedSuppressions | null>(null);
	const [idempotencyKey] = useState(newKey);
	const emails = addressesIn(form.values.emails);
	const odd = emails.filter((e) => !address.test(e));
	const send = () =>
		form.submit(async () =>
			setDone(
				await api("POST /suppressions/import", {
					body: { emails, reason: form.values.reason || null },
					idempotencyKey,
				}),
			),
		);
	return (
		<Dialog
			title={words.add}
			onClose={onClose}
			onSubmit={() => void send()}
			footer={
				<>
					<Button onClick={onClose}>{words.cancel}</Button>
					<Button
						type="submit"
						look="primary"
						busy={form.busy}
						why={emails.length === 0 ? words.addresses : emails.length > 10_000 ? words.tooMany : undefined}
					>
						{words.add}
					</Button>
				</>
			}
		>
			<FormProblems problems={form.problems} />
			<TextArea
				rows={8}
				label={words.addresses}
				help={
					odd.length > 0
						? `${words.valid({ count: emails.length - odd.length })}. ${words.odd({ count: odd.length, examples: odd.slice(0, 5).join(", ") })}`
						: words.valid({ count: emails.length })
				}
				path="emails"
				value={form.values.emails}
				onChange={(v) => form.set({ emails: v })}
				error={form.problems.byPath.emails}
				autoFocus
			/>
			<TextField
				label={words.why}
				optional
				path="reason"
				value={form.values.reason}
				onChange={(reason) => form.set({ reason })}
				error={form.problems.byPath.reason}
			/>
			{done && (
				<Callout
					tone={done.invalid.length ? "warning" : "success"}
					title={words.added({ added: done.added, updated: done.updated })}
				>
					{done.invalid.length > 0 && (
						<p>
							{words.invalid({ count: done.invalid.length })} {done.invalid.slice(0, 10).join(", ")}
						</p>
					)}
				</Callout>
			)}
		</Dialog>
	);
}

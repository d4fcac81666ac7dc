import { useInfiniteQuery, useMutation, useQueries, useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { Link } from "wouter";
import { api, newKey } from "../../api/client";
import type { Contact, ImportedSuppressions, SuppressionRow } from "../../api/schema";
import { useParam, useTextParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
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
	const disabledReason = useDisabledReason("POST /suppressions");
	const [search, setSearch] = useTextParam("q");
	const [reason, setReason] = useParam("reason");
	const [adding, setAdding] = useParam("add"); // "1", or the address to add
	const list = useInfiniteQuery(suppressionsQuery(search, reason));
	const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
	const onEnd = useCallback(() => {
		if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
	}, [hasNextPage, isFetchingNextPage, fetchNextPage]);
	const refresh = () => client.invalidateQueries(within("suppressions"));
	const remove = useMutation({
		mutationFn: (suppression: SuppressionRow) => api("DELETE /suppressions", { query: { email: suppression.email } }),
		onSuccess: (_, suppression) => {
			void refresh();
			toast(words.removed({ email: suppression.email }), {
				undo: () =>
					void api("POST /suppressions", {
						body: { email: suppression.email, reason: suppression.reason },
						idempotencyKey: newKey(),
					}).then(refresh),
			});
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const rows = list.data?.pages.flatMap((page) => page.data) ?? [];
	const holders = useHolders(list.data?.pages.map((page) => page.data.map((suppression) => suppression.email)) ?? []);
	const button = (
		<Button kind="create" disabledReason={disabledReason} onClick={() => setAdding("1")}>
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
							reason !== "" && { name: suppressionReason(reason) ?? reason, remove: () => setReason("") },
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
					rowKey={(suppression) => suppression.email}
					rowName={(suppression) => suppression.email}
					onEnd={onEnd}
					columns={[
						{ id: "email", name: words.email, cell: (suppression) => suppression.email },
						{
							id: "reason",
							name: words.reason,
							cell: (suppression) => suppressionReason(suppression.reason) ?? <NotSet />,
						},
						{
							id: "contact",
							name: words.contact,
							width: 200,
							minWidth: 140,
							cell: (suppression) => {
								const contact = holders.get(suppression.email);
								return contact ? (
									<Link href={to.contact(contact.id)} tabIndex={-1}>
										{nameOf(contact)}
									</Link>
								) : (
									<NotSet />
								);
							},
						},
						{
							id: "since",
							name: words.since,
							width: 140,
							minWidth: 88,
							cell: (suppression) => <Time at={suppression.created_at} />,
						},
						{
							id: "actions",
							name: "",
							width: 112,
							align: "end",
							cell: (suppression) => (
								<Button
									small
									variant="quiet"
									aria-label={words.removeOf({ email: suppression.email })}
									disabledReason={disabledReason}
									onClick={() => remove.mutate(suppression)}
								>
									{words.remove}
								</Button>
							),
						},
					]}
					card={(suppression) => (
						<span className={rowsCss.card}>
							<span className={rowsCss.name}>
								<b>{suppression.email}</b>
								<span>{suppressionReason(suppression.reason)}</span>
							</span>
							<Button
								small
								variant="quiet"
								aria-label={words.removeOf({ email: suppression.email })}
								disabledReason={disabledReason}
								onClick={() => remove.mutate(suppression)}
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
	const query = useQueries({ queries: pages.map(holdersQuery) });
	return new Map(
		query.flatMap((query) => (query.data?.data ?? []).map((contact) => [contact.email, contact] as const)),
	);
}

const address = /^[^\s@]+@[^\s@]+$/;

function Add({ first, onClose }: { first: string; onClose: () => void }) {
	const form = useForm({ emails: first, reason: "" });
	const [done, setDone] = useState<ImportedSuppressions | null>(null);
	const [idempotencyKey] = useState(newKey);
	const emails = addressesIn(form.values.emails);
	const invalidEmails = emails.filter((email) => !address.test(email));
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
						variant="primary"
						busy={form.busy}
						disabledReason={emails.length === 0 ? words.addresses : emails.length > 10_000 ? words.tooMany : undefined}
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
					invalidEmails.length > 0
						? `${words.valid({ count: emails.length - invalidEmails.length })}. ${words.odd({ count: invalidEmails.length, examples: invalidEmails.slice(0, 5).join(", ") })}`
						: words.valid({ count: emails.length })
				}
				path="emails"
				value={form.values.emails}
				onChange={(value) => form.set({ emails: value })}
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

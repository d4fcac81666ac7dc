import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Columns3, Search, Upload } from "lucide-react";
import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { api, newKey } from "../../api/client";
import type { Contact, SavedFilterRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useParams } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { FilterBar } from "../rules/FilterBar";
import { filtersIn } from "../rules/filters";
import { useRuleFields } from "../rules/useFields";
import { StateBadge } from "../../ui/Badge";
import { Button, LinkButton } from "../../ui/Button";
import { CsvButton } from "../../ui/CsvButton";
import { Menu } from "../../ui/Menu";
import { Page } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { type Column, Table } from "../../ui/Table";
import { toast } from "../../ui/Toast";
import { useLoadMore } from "../../ui/useLoadMore";
import { catalogue } from "../../base/words/catalogue";
import { csvText } from "../../base/csv";
import { explain } from "../../base/words/errors";
import { AddContact } from "./AddContact";
import { BulkBar } from "./BulkBar";
import { BulkJob } from "../jobs/BulkJob";
import { ColumnChooser } from "./ColumnChooser";
import css from "./Contacts.module.css";
import { initialColumns, useColumns } from "./columns";
import { exportOf, nameOf, parseWidths } from "./contactFields";
import { Peek } from "./QuickView";
import { SavedFilters } from "./SavedFilters";
import { ofContacts, within } from "../../base/queries";
import { contactCountQuery, contactQuery, contactsQuery, maxContacts } from "./queries";
import { outside, to } from "../../base/paths";

const words = catalogue("contacts.contacts", {
	title: "Contacts",
	menu: "Actions for {name}",
	open: "Open",
	peek: "Preview",
	delete: "Delete",
	deleted: "{name} deleted",
	add: "Add contact",
	import: "Import",
	columns: "Columns",
	search: "Search names, addresses, companies",
	count: "{count, plural, one {# contact} other {# contacts}}",
	counting: "Counting",
	loaded: "The first {count, number, short} are shown. Filter or export to reach the others.",
	empty: "Your audience starts here",
	emptyText: "A contact is a person you can write to: an address, a name, and what you know about them.",
	example: "contacts example",
	others: "Other ways to get contacts:",
	form: "a form on your website",
	api: "the API",
	noMatch: "Nobody matches",
	noMatchText: "No contact matches the search and all filters. Remove a filter, or start again.",
	clear: "Clear search and filters",
	saved: "Saved as “{name}”",
});

/** Contacts is the table of all contacts, with its filters. */
export default function Contacts() {
	const client = useQueryClient();
	const [params, setParams] = useParams();
	const [, navigate] = useLocation();
	const fields = useRuleFields();
	const disabledReason = useDisabledReason("POST /contacts");
	const segmentDisabledReason = useDisabledReason("POST /segments");
	const importDisabledReason = useDisabledReason("POST /contacts/import");
	const [selected, setSelected] = useState<Set<string>>(new Set());
	const [allMatching, setAllMatching] = useState(false);
	const [searchText, setSearchText] = useState(params.get("q") ?? "");
	const search = useDeferredValue(params.get("q") ?? "");
	const filterText = params.get("filters");
	const widthText = params.get("widths");
	const filters = useMemo(() => filtersIn(filterText), [filterText]);
	const sort = params.get("sort") ?? "created_at";
	const dir = params.get("dir") === "asc" ? "asc" : "desc";
	const widths = useMemo(() => parseWidths(widthText), [widthText]);
	const columnText = params.get("columns");
	const selection = useMemo(() => columnText?.split(",").filter(Boolean) ?? initialColumns, [columnText]);

	// What is typed goes into the address a moment later; Back and saved filters bring other words.
	const searchParam = params.get("q") ?? "";
	const written = useRef(searchParam);
	useEffect(() => {
		if (searchParam !== written.current) {
			written.current = searchParam;
			setSearchText(searchParam);
			return;
		}
		if (searchText === searchParam) return;
		const timer = setTimeout(() => {
			written.current = searchText;
			setParams({ q: searchText || null }, { replace: true });
		}, 250);
		return () => clearTimeout(timer);
	}, [searchText, searchParam, setParams]);

	const selector = useMemo(() => ({ search: search || undefined, filters }), [search, filters]);
	const rows = useInfiniteQuery(contactsQuery(selector, sort, dir));
	const count = useQuery(contactCountQuery(selector));
	const stages = useCollection("stages");
	const stageNames = useMemo(
		() => new Map((stages.data?.data ?? []).map((stage) => [stage.id, stage.name])),
		[stages.data],
	);
	const { columns, all } = useColumns(selection, stageNames, widths, !columnText);
	const contacts = useMemo(() => rows.data?.pages.flatMap((page) => page.data) ?? [], [rows.data]);

	// Contacts that are selected stay so when the table shows others. They are kept as they were last seen, for Undo.
	const seenContacts = useRef(new Map<string, Contact>());
	const selectedContacts = useMemo(() => {
		const shown = new Map(contacts.map((contact) => [contact.id, contact]));
		const known = new Map<string, Contact>();
		for (const id of selected) {
			const contact = shown.get(id) ?? seenContacts.current.get(id);
			if (contact) known.set(id, contact);
		}
		seenContacts.current = known;
		return [...known.values()];
	}, [contacts, selected]);

	const onEnd = useLoadMore(rows);

	const apply = (savedFilter: SavedFilterRow) => {
		setSearchText(savedFilter.search ?? "");
		setParams({
			q: savedFilter.search,
			filters: savedFilter.filters.length ? JSON.stringify(savedFilter.filters) : null,
			sort: savedFilter.sort || null,
			dir: savedFilter.dir,
			columns: savedFilter.columns.length ? savedFilter.columns.join(",") : null,
			saved: savedFilter.id,
		});
	};
	const save = useMutation({
		mutationFn: (variables: { name: string; shared: boolean }) =>
			api("POST /saved-filters", {
				body: { ...variables, search: search || null, filters, sort, dir, columns: selection },
			}),
		onSuccess: (savedFilter) => {
			void client.invalidateQueries(within("saved_filters"));
			setParams({ saved: savedFilter.id });
			toast(words.saved({ name: savedFilter.name }));
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const clear = () => {
		setSearchText("");
		setParams({ q: null, filters: null, saved: null });
	};
	const change = (action: "delete" | "restore", id: string) =>
		api("POST /contacts/bulk", { idempotencyKey: newKey(), body: { action, contact_ids: [id] } });
	const showError = (error: unknown) => toast(explain(error), { tone: "danger" });
	const reload = () => client.invalidateQueries(ofContacts());
	const remove = useMutation({
		mutationFn: (contact: Contact) => change("delete", contact.id),
		onSuccess: (_, contact) => {
			void reload();
			toast(words.deleted({ name: nameOf(contact) }), {
				undo: () => void change("restore", contact.id).then(reload, showError),
			});
		},
		onError: showError,
	});
	const deselect = () => {
		setSelected(new Set());
		setAllMatching(false);
	};
	const open = (contact: Contact) => navigate(to.contact(contact.id));
	// The columns stay the same while rows come, so that those which are drawn are not drawn again.
	const handlers = useRef({ open, remove: remove.mutate, setParams });
	handlers.current = { open, remove: remove.mutate, setParams };
	const withActions = useMemo<Column<Contact>[]>(
		() => [
			...columns,
			{
				id: "actions",
				name: "",
				width: 52,
				cell: (contact) => (
					<Menu
						small
						label={words.menu({ name: nameOf(contact) })}
						actions={[
							{ id: "open", label: words.open, run: () => handlers.current.open(contact) },
							{ id: "peek", label: words.peek, run: () => handlers.current.setParams({ peek: contact.id }) },
							contact.global_status !== "suppressed" && {
								id: "delete",
								label: words.delete,
								danger: true,
								disabledReason,
								run: () => handlers.current.remove(contact),
							},
						]}
					/>
				),
			},
		],
		[columns, disabledReason],
	);
	const peek = params.get("peek") ?? "";
	const listed = contacts.find((contact) => contact.id === peek);
	const other = useQuery({ ...contactQuery(peek), enabled: peek !== "" && !listed && !rows.isPending });
	const peeked = peek === "" ? undefined : (listed ?? other.data);
	const showNeighbour = (by: number) => {
		const next = listed && contacts[contacts.indexOf(listed) + by];
		if (next) setParams({ peek: next.id }, { replace: true });
	};
	const filtered = search !== "" || filters.length > 0;
	const total = count.data?.count;
	const none = rows.isSuccess && contacts.length === 0 && !filtered && !searchText;

	return (
		<Page
			wide
			title={words.title}
			description={
				<span role="status" className={count.isFetching ? css.counting : undefined}>
					{total !== undefined ? words.count({ count: total }) : count.isError ? "\u00a0" : words.counting}
				</span>
			}
			actions={
				<div className={css.actions} data-coming={rows.isPending || undefined}>
					{!none && (
						<LinkButton to={to.contactImport()} icon={<Upload aria-hidden />} disabledReason={importDisabledReason}>
							{words.import}
						</LinkButton>
					)}
					<Button
						kind="create"
						variant={none ? "default" : "primary"}
						disabledReason={disabledReason}
						onClick={() => setParams({ new: "1" })}
					>
						{words.add}
					</Button>
				</div>
			}
		>
			{!none && (
				<>
					<SavedFilters
						current={params.get("saved")}
						state={{ search, filters, sort, dir, columns: selection }}
						onApply={apply}
						onReset={clear}
						onSave={(name, shared) => save.mutate({ name, shared })}
					/>
					<div className={css.tools}>
						<div className={css.search}>
							<Search aria-hidden size={16} />
							<input
								type="search"
								aria-label={words.search}
								placeholder={words.search}
								value={searchText}
								maxLength={200}
								onChange={(e) => setSearchText(e.target.value)}
							/>
						</div>
						<FilterBar
							filters={filters}
							fields={fields}
							search={search}
							disabledReason={segmentDisabledReason}
							onChange={(value) => setParams({ filters: value.length ? JSON.stringify(value) : null })}
						/>
						<div className={css.end}>
							<ColumnChooser
								all={all}
								selected={selection}
								onChange={(value) =>
									setParams({ columns: value.join(",") === initialColumns.join(",") ? null : value.join(",") })
								}
								icon={<Columns3 aria-hidden />}
							>
								{words.columns}
							</ColumnChooser>
						</div>
					</div>
				</>
			)}
			{(selected.size > 0 || allMatching) && (
				<BulkBar
					contacts={selectedContacts}
					ids={[...selected]}
					allMatching={allMatching}
					total={total}
					selector={selector}
					exportColumns={exportOf(selection)}
					onAllMatching={setAllMatching}
					onClear={deselect}
					onJob={(job) => {
						deselect();
						setParams({ job });
					}}
				/>
			)}
			{params.get("job") && <BulkJob id={params.get("job") ?? ""} onClose={() => setParams({ job: null })} />}
			{rows.isPending ? (
				<Skeleton rows={12} height={36} />
			) : rows.isError ? (
				<Failure error={rows.error} retry={() => void rows.refetch()} />
			) : contacts.length === 0 ? (
				filtered ? (
					<Empty title={words.noMatch} action={<Button onClick={clear}>{words.clear}</Button>}>
						{words.noMatchText}
					</Empty>
				) : (
					<Empty
						title={words.empty}
						example={<Example />}
						action={
							<LinkButton variant="primary" to={to.contactImport()} disabledReason={importDisabledReason}>
								{words.import}
							</LinkButton>
						}
					>
						{words.emptyText}
					</Empty>
				)
			) : (
				<Table
					fill
					recyclesElements
					label={words.title}
					columns={withActions}
					rows={contacts}
					rowKey={(contact) => contact.id}
					rowName={nameOf}
					total={total}
					found={`${search} ${filterText}`}
					sort={{ column: sort, dir }}
					onSort={(column, direction) =>
						setParams({ sort: column === "created_at" ? null : column, dir: direction === "desc" ? null : direction })
					}
					selected={selected}
					onSelect={(value) => {
						setSelected(value);
						setAllMatching(false);
					}}
					onOpen={open}
					onPeek={(contact) => setParams({ peek: contact.id })}
					onResize={(field, width) =>
						setParams(
							{
								widths: Object.entries({ ...widths, [field]: width })
									.map((pair) => pair.join(":"))
									.join(","),
							},
							{ replace: true },
						)
					}
					onEnd={onEnd}
					card={(contact) => (
						<span className={css.card}>
							<span className={css.name}>
								<b>{nameOf(contact)}</b>
								<span>{contact.email}</span>
							</span>
							<StateBadge kind="contact" state={contact.global_status} />
						</span>
					)}
				/>
			)}
			{contacts.length >= maxContacts && <p className={css.limit}>{words.loaded({ count: maxContacts })}</p>}
			{params.get("new") && (
				<AddContact onClose={() => setParams({ new: null })} onAdded={(id) => navigate(to.contact(id))} />
			)}
			{peeked && <Peek contact={peeked} onNeighbour={showNeighbour} onClose={() => setParams({ peek: null })} />}
		</Page>
	);
}

const example = {
	header: ["email", "first_name", "tags"],
	rows: [
		["ada@example.com", "Ada", "reader"],
		["alan@example.com", "Alan", "customer"],
	],
};

/** Example is a small file to import, and the other ways to the first contacts. */
function Example() {
	return (
		<>
			<pre className={css.example}>{csvText(example.header, example.rows)}</pre>
			<CsvButton name={words.example} header={example.header} rows={example.rows} />
			<p>
				{words.others} <Link href={to.forms()}>{words.form}</Link> · <a href={outside.reference}>{words.api}</a>
			</p>
		</>
	);
}

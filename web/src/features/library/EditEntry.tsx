import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Versioned } from "../../api/client";
import type { MessageSession, RebasedMessage } from "../../api/schema";
import { useParams } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { textOf } from "../binding/binding";
import source from "../source/Source.module.css";
import { Button } from "../../ui/Button";
import { Copy } from "../../ui/Copy";
import { Card, Page } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { editable } from "./content";
import css from "./Library.module.css";
import { holders } from "./holders";
import { useEntryDraft } from "./useEntryDraft";
import { useEntryEditor } from "./useEntryEditor";
import { useVersions } from "./versions";
import { rebaseQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("library.editEntry", {
	library: "Library",
	title: "{name}, version {number}",
	leave: "Leave",
	unsaved: "Not saved",
	pinned: "These always use the current version and will send this one: {who}.",
	rebase: "Effects of the template change",
	kept: "{count, plural, one {# value is kept.} other {# values are kept.}}",
	added: "New in the template",
	removed: "No longer in the template",
	changed: "Type changed",
	required: "required",
	old: "old value",
	wasEmpty: "had no value",
	oldIs: "was {v}",
	from: "{a} became {b}",
	valueKept: "value kept",
	valueLost: "value dropped",
	none: "Everything fits.",
});

type Props = { server: Versioned<MessageSession>; rebase: boolean };

/** EditEntry writes the next version of a library entry, or rebases one on its template as it is now. */
export default function EditEntry(props: Props) {
	const [params] = useParams();
	const selected = Number(params.get("v"));
	const version =
		Number.isInteger(selected) && selected > 0 && selected < props.server.data.current_version
			? selected
			: props.server.data.current_version;
	const rebase = props.rebase && version > 0;
	const merged = useQuery({
		...rebaseQuery(props.server.data.id, version),
		enabled: rebase,
		staleTime: Number.POSITIVE_INFINITY,
	});
	if (merged.isError) return <Failure error={merged.error} retry={() => void merged.refetch()} />;
	if (rebase && !merged.data) {
		return (
			<Page title=" " breadcrumbs={[{ name: words.library, to: to.library() }]}>
				<Skeleton rows={12} />
			</Page>
		);
	}
	return <Form server={props.server} merged={rebase ? (merged.data ?? null) : null} />;
}

const count = (value: unknown): number =>
	Array.isArray(value)
		? value.reduce((sum: number, item) => sum + count(item), 0)
		: typeof value === "object" && value !== null
			? Object.values(value).reduce((sum: number, item) => sum + count(item), 0)
			: value === undefined || value === null
				? 0
				: 1;

function Form({ server, merged }: Omit<Props, "rebase"> & { merged: RebasedMessage | null }) {
	const entry = server.data;
	const [, setParams] = useParams();
	const disabledReason = useDisabledReason("PATCH /messages/{id}");
	const draft = useEntryDraft(
		server,
		disabledReason !== undefined,
		// A rebase begins with the merged values; they are unsaved work like any other.
		merged
			? {
					...editable(entry.name, null),
					subject: merged.subject ?? "",
					preheader: merged.preheader ?? "",
					from_name: merged.from_name ?? "",
					reply_to: merged.reply_to ?? "",
					template: merged.merged_snapshot.slug,
					binding: merged.merged_binding,
				}
			: undefined,
		merged ? "message_rebase" : "message",
	);
	const leave = () => setParams({ edit: null, v: null }, { replace: true });
	const [isReviewed, setReviewed] = useState(false);
	const versions = useVersions(entry.id, isReviewed).data?.data;
	const current = versions?.find(({ version }) => version === entry.current_version);
	const unpinned = holders((current?.usage ?? []).filter((use) => use.version === null));
	const editor = useEntryEditor({
		entry,
		draft,
		isRebase: merged !== null,
		disabledReason,
		affected: unpinned ? [words.pinned({ who: unpinned })] : [],
		onReview: () => setReviewed(true),
		onSaved: leave,
	});
	return (
		<Page
			wide
			title={words.title({ name: entry.name, number: editor.next })}
			breadcrumbs={[
				{ name: words.library, to: to.library() },
				{ name: entry.name, to: to.entry(entry.id) },
			]}
			status={editor.dirty && <span className={source.unsaved}>{words.unsaved}</span>}
			actions={
				<>
					<Button onClick={leave}>{words.leave}</Button>
					{editor.actions}
				</>
			}
		>
			{editor.notices}
			{merged && <Rebase merged={merged} />}
			{editor.content}
		</Page>
	);
}

/** Rebase says what a change of the template means for values. */
function Rebase({ merged }: { merged: RebasedMessage }) {
	const diff = merged.diff;
	const typeOf = (entry: { [key: string]: unknown }) => textOf(entry.type) || textOf(entry);
	return (
		<Card title={words.rebase}>
			<div className={css.rebase}>
				<p>{words.kept({ count: count(merged.merged_binding.parameters) + count(merged.merged_binding.sections) })}</p>
				{diff.added.length + diff.removed.length + diff.changed.length === 0 && <p>{words.none}</p>}
				{diff.added.length > 0 && (
					<section>
						<h3>{words.added}</h3>
						<ul>
							{diff.added.map((added) => (
								<li key={added.path}>
									<code>{added.path}</code> {added.required && words.required}
								</li>
							))}
						</ul>
					</section>
				)}
				{diff.removed.length > 0 && (
					<section>
						<h3>{words.removed}</h3>
						<ul>
							{diff.removed.map((removed) => (
								<li key={removed.path}>
									<code>{removed.path}</code>{" "}
									{textOf(removed.value) === "" ? (
										words.wasEmpty
									) : (
										<>
											{words.oldIs({ v: textOf(removed.value) })}{" "}
											<Copy subject={words.old} text={textOf(removed.value)} />
										</>
									)}
								</li>
							))}
						</ul>
					</section>
				)}
				{diff.changed.length > 0 && (
					<section>
						<h3>{words.changed}</h3>
						<ul>
							{diff.changed.map((change) => (
								<li key={change.path}>
									<code>{change.path}</code> {words.from({ a: typeOf(change.from), b: typeOf(change.to) })},{" "}
									{change.value_kept ? words.valueKept : words.valueLost}{" "}
									{!change.value_kept && change.value !== undefined && (
										<Copy subject={words.old} text={textOf(change.value)} />
									)}
								</li>
							))}
						</ul>
					</section>
				)}
			</div>
		</Card>
	);
}

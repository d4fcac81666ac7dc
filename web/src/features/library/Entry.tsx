import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation, useParams as useRoute } from "wouter";
import { ApiError, api, isConflict, newKey, request } from "../../api/client";
import type { MessageBody, MessageSession, MessageUse, MessageVersionSession } from "../../api/schema";
import { lazyComponent } from "../../base/lazy";
import { useParam, useParams } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { Changes } from "../source/Review";
import { TagPicks } from "../source/TagPicks";
import source from "../source/Source.module.css";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Confirm, Dialog } from "../../ui/Dialog";
import { Select, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { isGone, NotFound } from "../../ui/NotFound";
import { MailFrame } from "../../ui/MailFrame";
import { Menu } from "../../ui/Menu";
import { Facts, Callout, Page } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { ago } from "../../base/words/formats";
import { explain } from "../../base/words/errors";
import { comparable, contentCodes, contentNames } from "./content";
import { holderOf, holders } from "./holders";
import css from "./Library.module.css";
import { useVersions } from "./versions";
import { within } from "../../base/queries";
import { entryPreviewQuery, entryQuery, rebaseQuery } from "./queries";
import { to } from "../../base/paths";

const EditEntry = lazyComponent(() => import("./EditEntry"));

const words = catalogue("library.entry", {
	library: "Library",
	versions: "Versions",
	version: "Version {number}",
	current: "current",
	unused: "not used",
	used: "used by {who}",
	edit: "Edit",
	write: "Write",
	publish: "Publish",
	draft: "Back to draft",
	archive: "Archive",
	restore: "Restore from archive",
	settings: "Name, key and tags",
	duplicate: "Duplicate",
	delete: "Delete",
	deleteTitle: "Delete {name}?",
	deleteText: "All its versions are deleted with it. Emails already sent stay as they are.",
	inUse: "This entry is in use and cannot be deleted:",
	archived: "Archived.",
	published: "Published.",
	drafted: "Back to draft.",
	empty: "Nothing written yet",
	emptyText: "The first save creates version 1.",
	compare: "Compare with",
	nothing: "Nothing",
	same: "Both versions are the same.",
	comparing: "From version {a} to version {b}",
	preview: "Preview",
	template: "Template",
	own: "Own code",
	moved: "The template has changed since this version",
	movedText: "This version stays as it is. Update it to use the current template. Values that still fit are kept.",
	rebase: "Update",
	save: "Save",
	key: "Key",
	holders: "Used by",
	tags: "Tags",
});

/** EntryPage shows a library entry: its versions, what each says and who uses it, and what differs between two. */
export default function EntryPage() {
	const { id = "" } = useRoute<{ id: string }>();
	const query = useQuery(entryQuery(id));
	const [edit] = useParam("edit");
	const writes = edit !== ""; // the next version needs no other
	const versions = useVersions(id, !writes);
	if (!query.data || isGone(query.error))
		return (
			<NotFound
				query={query}
				list={words.library}
				to={to.library()}
				unsavedInput={{ kinds: ["message", "message_rebase"], id }}
			/>
		);
	if (!versions.data && !writes) return <NotFound query={versions} list={words.library} to={to.library()} />;
	const { data: entry, revision } = query.data;
	if (edit) return <EditEntry key={`${entry.id} ${edit}`} server={query.data} rebase={edit === "rebase"} />;
	return <Entry entry={entry} revision={revision} versions={versions.data?.data ?? []} />;
}

function Entry({
	entry,
	revision,
	versions,
}: {
	entry: MessageSession;
	revision: string | null;
	versions: MessageVersionSession[];
}) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const [params, setParams] = useParams();
	const disabledReason = useDisabledReason("PATCH /messages/{id}");
	const [deleting, setDeleting] = useState(false);
	const [settings, setSettings] = useState(false);
	const shown =
		versions.find((version) => version.version === Number(params.get("v"))) ??
		versions.find((version) => version.version === entry.current_version);
	const other = versions.find((version) => version.version === Number(params.get("compare")) && version !== shown);

	const refresh = () => {
		void client.invalidateQueries(within("messages"));
		return client.invalidateQueries(within("message", entry.id));
	};
	const patch = async (body: MessageBody, withRevision = true) => {
		try {
			await request("PATCH /messages/{id}", {
				path: { id: entry.id },
				body,
				revision: withRevision ? (revision ?? undefined) : undefined,
			});
		} finally {
			await refresh();
		}
	};
	const move = useMutation({
		mutationFn: (status: MessageSession["status"]) => patch({ status }),
		onSuccess: (_, status) =>
			toast(status === "archived" ? words.archived : status === "published" ? words.published : words.drafted, {
				undo: () => void patch({ status: entry.status }, false),
			}),
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const duplicate = useMutation({
		mutationFn: () => api("POST /messages/{id}/duplicate", { path: { id: entry.id }, idempotencyKey: newKey() }),
		onSuccess: (copy) => {
			void client.invalidateQueries(within("messages"));
			navigate(to.entry(copy.id));
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const remove = useMutation({
		mutationFn: () => api("DELETE /messages/{id}", { path: { id: entry.id }, revision: revision ?? undefined }),
		onError: (error) => isConflict(error) && void refresh(),
		onSuccess: () => {
			void client.invalidateQueries(within("messages"));
			navigate(to.library());
		},
	});
	const uses =
		remove.error instanceof ApiError && remove.error.code === "IN_USE"
			? ((remove.error.details as { usage?: MessageUse[] }).usage ?? [])
			: null;
	return (
		<Page
			wide
			title={entry.name}
			breadcrumbs={[{ name: words.library, to: to.library() }]}
			status={<StateBadge kind="message" state={entry.status} />}
			actions={
				<>
					{entry.status === "draft" && entry.current_version > 0 && (
						<Button disabledReason={disabledReason} busy={move.isPending} onClick={() => move.mutate("published")}>
							{words.publish}
						</Button>
					)}
					<Button
						variant="primary"
						disabledReason={disabledReason}
						onClick={() => setParams({ edit: "1", v: null, compare: null }, { replace: false })}
					>
						{entry.current_version > 0 ? words.edit : words.write}
					</Button>
					<Menu
						actions={[
							{ id: "settings", label: words.settings, disabledReason, run: () => setSettings(true) },
							entry.status === "published" && {
								id: "draft",
								label: words.draft,
								disabledReason,
								run: () => move.mutate("draft"),
							},
							{ id: "duplicate", label: words.duplicate, disabledReason, run: () => duplicate.mutate() },
							entry.status === "archived"
								? { id: "restore", label: words.restore, disabledReason, run: () => move.mutate("draft") }
								: { id: "archive", label: words.archive, disabledReason, run: () => move.mutate("archived") },
							{ id: "delete", label: words.delete, danger: true, disabledReason, run: () => setDeleting(true) },
						]}
					/>
				</>
			}
		>
			{!shown ? (
				<Empty title={words.empty}>{words.emptyText}</Empty>
			) : (
				<div className={css.entry}>
					<nav className={css.versions} aria-label={words.versions}>
						<h2>{words.versions}</h2>
						<ol reversed>
							{versions.map((version) => (
								<li key={version.id}>
									<Link
										href={to.entry(entry.id, {
											v: String(version.version),
											...(other && other.version !== version.version ? { compare: String(other.version) } : {}),
										})}
										aria-current={version === shown ? "page" : undefined}
									>
										{words.version({ number: version.version })}
										{version.version === entry.current_version && <small>{words.current}</small>}
										<small>{ago(version.created_at)}</small>
										<small>
											{holders(version.usage ?? []) ? words.used({ who: holders(version.usage ?? []) }) : words.unused}
										</small>
									</Link>
								</li>
							))}
						</ol>
					</nav>
					<div className={css.main}>
						<div className={css.tools}>
							<Select
								label={words.compare}
								value={other ? String(other.version) : ""}
								onChange={(value) => setParams({ compare: value || null, v: String(shown.version) })}
								choices={[
									{ value: "", label: words.nothing },
									...versions
										.filter((version) => version !== shown)
										.map((version) => ({
											value: String(version.version),
											label: words.version({ number: version.version }),
										})),
								]}
							/>
						</div>
						{other ? (
							<Compare
								entry={entry.id}
								before={other.version < shown.version ? other : shown}
								after={other.version < shown.version ? shown : other}
							/>
						) : (
							<Version entry={entry} version={shown} disabledReason={disabledReason} />
						)}
					</div>
				</div>
			)}
			{settings && <Settings entry={entry} patch={patch} onClose={() => setSettings(false)} />}
			{deleting && (
				<Confirm
					title={words.deleteTitle({ name: entry.name })}
					action={words.delete}
					busy={remove.isPending}
					error={remove.error && !uses && <p role="alert">{explain(remove.error)}</p>}
					onConfirm={() => remove.mutate()}
					onClose={() => {
						setDeleting(false);
						remove.reset();
					}}
				>
					{uses ? (
						<div role="alert">
							<p>{words.inUse}</p>
							<ul>
								{uses.map((use) => (
									<li key={`${use.kind} ${use.name} ${use.version}`}>{holderOf(use)}</li>
								))}
							</ul>
						</div>
					) : (
						<p>{words.deleteText}</p>
					)}
				</Confirm>
			)}
		</Page>
	);
}

/** usePreview shows a stored version. */
function usePreview(id: string, version: number) {
	return useQuery(entryPreviewQuery(id, version));
}

function Stored({ id, version }: { id: string; version: number }) {
	const preview = usePreview(id, version);
	if (preview.isError) return <Failure error={preview.error} retry={() => void preview.refetch()} />;
	if (!preview.data) return <Skeleton rows={8} />;
	return <MailFrame html={preview.data.html} text={preview.data.text} size={preview.data.size} />;
}

function Version({
	entry,
	version,
	disabledReason,
}: {
	entry: MessageSession;
	version: MessageVersionSession;
	disabledReason?: string;
}) {
	const [, setParams] = useParams();
	const content = version.content;
	const rebase = useQuery({ ...rebaseQuery(entry.id, version.version), enabled: content.template_id !== null });
	const origin = content.template_id ? (
		<Link href={to.template(content.template_id)}>{content.template_slug ?? content.template_id}</Link>
	) : (
		words.own
	);
	const users = version.usage && version.usage.length > 0 && (
		<ul>
			{version.usage.map((use) => (
				<li key={`${use.kind} ${use.name} ${use.version}`}>{holderOf(use)}</li>
			))}
		</ul>
	);
	return (
		<>
			{rebase.data?.diff.template_changed && (
				<Callout tone="warning" title={words.moved}>
					<p>{words.movedText}</p>
					<div className={source.calloutActions}>
						<Button
							small
							disabledReason={disabledReason}
							onClick={() => setParams({ edit: "rebase", v: String(version.version) }, { replace: false })}
						>
							{words.rebase}
						</Button>
					</div>
				</Callout>
			)}
			<Facts
				rows={[
					[contentNames.subject, content.subject],
					[contentNames.preheader, content.preheader],
					[contentNames.from_name, content.from_name],
					[contentNames.reply_to, content.reply_to],
					[words.template, origin],
					[words.holders, users || undefined],
				]}
			/>
			<Stored id={entry.id} version={version.version} />
			<p className={css.hint}>
				{words.version({ number: version.version })}, <Time at={version.created_at} />
			</p>
		</>
	);
}

function Compare({
	entry,
	before,
	after,
}: {
	entry: string;
	before: MessageVersionSession;
	after: MessageVersionSession;
}) {
	const [content, b] = [comparable(before.content), comparable(after.content)];
	return (
		<>
			<h2>{words.comparing({ a: before.version, b: after.version })}</h2>
			{JSON.stringify(content) === JSON.stringify(b) ? (
				<p>{words.same}</p>
			) : (
				<Changes before={content} after={b} names={contentNames} codes={contentCodes} />
			)}
			<div className={css.side}>
				{[before, after].map((version) => (
					<section key={version.id} className={css.main}>
						<h3>{words.version({ number: version.version })}</h3>
						<Stored id={entry} version={version.version} />
					</section>
				))}
			</div>
		</>
	);
}

function Settings({
	entry,
	patch,
	onClose,
}: {
	entry: MessageSession;
	patch: (body: MessageBody) => Promise<void>;
	onClose: () => void;
}) {
	const form = useForm({ name: entry.name, slug: entry.slug, tags: entry.tags });
	return (
		<Dialog
			drawer="narrow"
			title={words.settings}
			onClose={onClose}
			onSubmit={() =>
				void form.submit(async () => {
					await patch(form.values);
					onClose();
				})
			}
			submit={{ label: words.save, busy: form.busy }}
		>
			<FormProblems problems={form.problems} />
			<TextField
				label={contentNames.name}
				path="name"
				value={form.values.name}
				onChange={(name) => form.set({ name })}
				error={form.problems.byPath.name}
			/>
			<TextField
				label={words.key}
				path="slug"
				value={form.values.slug}
				onChange={(slug) => form.set({ slug })}
				error={form.problems.byPath.slug}
				spellCheck={false}
			/>
			<TagPicks label={words.tags} options={[]} values={form.values.tags} onChange={(tags) => form.set({ tags })} />
		</Dialog>
	);
}

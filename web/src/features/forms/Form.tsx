import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { api, ApiError, type FieldProblem, isConflict, request, type Versioned } from "../../api/client";
import type { FormRow } from "../../api/schema";
import { storesDrafts } from "../../sync/deviceStorage";
import { useParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { useShortcuts } from "../../base/shortcuts";
import { Choose } from "../../ui/Versions";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { isGone, NotFound } from "../../ui/NotFound";
import { Menu } from "../../ui/Menu";
import { restoredText } from "../../ui/draftForm";
import { Callout, Page } from "../../ui/Page";
import { Tabs } from "../../ui/Tabs";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { and } from "../../base/words/formats";
import { explain, fieldSentence } from "../../base/words/errors";
import { Build } from "./Build";
import { type FormDraft, type FormWork, useFormDraft } from "./draft";
import { Embed } from "./Embed";
import css from "./Form.module.css";
import { Submissions } from "./Submissions";
import { within } from "../../base/queries";
import { formQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("forms.form", {
	forms: "Forms",
	views: "Views of the form",
	build: "Build",
	embed: "Embed",
	submissions: "Submissions",
	publish: "Publish",
	unpublish: "Unpublish",
	unpublishTitle: "Unpublish {name}?",
	unpublishText: "Pages that contain it can no longer submit it. Visitors get an error until it is published again.",
	archive: "Archive",
	unarchive: "Restore from archive",
	archived: "{name} is archived and takes no submissions.",
	remove: "Delete",
	removeTitle: "Delete {name}?",
	removeText:
		"{count, plural, one {Its submission is deleted with it. The contact stays.} other {Its # submissions are deleted with it. The contacts stay.}}",
	whyRemove: "Archive it first.",
	save: "Save",
	nothing: "No changes.",
	discard: "Discard changes",
	saving: "Saving",
	saved: "Saved {at, time}",
	allSaved: "Saved",
	refused: "{count, plural, one {Not saved: {first}} other {Not saved: # problems}}",
	unsaved: "Not saved yet",
	failed: "Kept on this device: {problem}",
	alone: "Only on this page: {problem}",
	published: "The form is published. Put its code on a page.",
	toEmbed: "Get code",
	blocked:
		"{count, plural, one {One thing is missing before it can be published} other {# things are missing before it can be published}}",
	blockedSave:
		"{count, plural, one {One thing keeps the changes from being saved} other {# things keep the changes from being saved}}",
	senders: "Senders",
	live: "This form is published. Changes to what happens after submitting apply when you save. Fields and texts are part of the code on your pages: put the new code there after you change them.",
	joined: "Somebody else changed {fields} in the meantime. Their changes and yours were merged.",
	clash: "Somebody else changed the same parts in the meantime.",
	brought: "Restored from this device. {saved}",
	choose: "Choose",
	dismiss: "Dismiss",
	isArchived: "This form is archived. Restore it to change it.",
});

const names: { [F in keyof FormDraft]: string } = catalogue("forms.form.names", {
	name: "Name",
	fields: "Fields",
	submit_label: "Button text",
	success_mode: "After submitting",
	success_message: "Message",
	redirect_url: "Page URL",
	double_opt_in: "Double opt-in",
	confirm_message_id: "Confirmation email",
	confirm_redirect_url: "After confirming",
	list_segment_keys: "Lists",
	tags: "Tags",
	stage_id: "Stage",
	captcha_provider: "Captcha",
	captcha_site_key: "Site key",
	allowed_origins: "Allowed websites",
});

/** FormPage builds a form, gives the code for pages, and shows what was submitted. */
export default function FormPage() {
	const { id = "" } = useParams<{ id: string }>();
	const query = useQuery(formQuery(id));
	if (!query.data || isGone(query.error))
		return <NotFound query={query} list={words.forms} to={to.forms()} unsavedInput={{ kinds: ["form"], id }} />;
	return <Editor key={query.data.data.id} server={query.data} />;
}

/** problemText says what is wrong with a form, with the name that the page gives to the field. */
function problemText(problem: FieldProblem): string {
	const name = /[.[]/.test(problem.path) ? undefined : names[problem.path as keyof FormDraft];
	return fieldSentence(problem, name);
}

function savingText(work: FormWork): string {
	const status = work.status;
	switch (status.kind) {
		case "saving":
			return words.saving;
		case "refused":
			return words.refused({
				count: status.problems.length,
				first: status.problems[0] ? problemText(status.problems[0]) : "",
			});
		case "offline":
			return (storesDrafts() ? words.failed : words.alone)({ problem: explain(status.error) });
		case "saved": {
			if (!status.at) return words.allSaved;
			const saved = words.saved({ at: status.at });
			return work.restored === "device" ? words.brought({ saved }) : saved;
		}
		default:
			return words.unsaved;
	}
}

/** goTo moves the focus to the control of a field of a request, and opens the card that it is in. */
function goTo(path: string) {
	const find = (path: string) => document.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`);
	const card = /^fields\[(\d+)\]/.exec(path);
	const target =
		find(path) ??
		(card ? (find(`${card[0]}.label`) ?? find(`${card[0]}.binding`)) : undefined) ??
		find(path.split(/[.[]/)[0] ?? "");
	target?.closest("details")?.setAttribute("open", "");
	target?.scrollIntoView({ block: "center" });
	target?.focus();
}

function Editor({ server }: { server: Versioned<FormRow> }) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const [tab, setTab] = useParam("tab", "build");
	const roleDisabledReason = useDisabledReason("PUT /forms/{id}");
	const archived = server.data.status === "archived";
	const disabledReason = roleDisabledReason ?? (archived ? words.isArchived : undefined);
	const work = useFormDraft(server, disabledReason === undefined);
	const form = work.form;
	const [asking, setAsking] = useState<"unpublish" | "remove" | null>(null);
	const [blocked, setBlocked] = useState(false);
	const [choosing, setChoosing] = useState(false);
	const draft = form.status === "draft";

	const applyResponse = async (saved: Versioned<FormRow>) => {
		client.setQueryData(formQuery(form.id).queryKey, saved);
		await client.invalidateQueries(within("forms"));
	};
	const move = useMutation({
		mutationFn: async (to: "publish" | "unpublish" | "archive" | "unarchive") => {
			const response = await request(`POST /forms/{id}/${to}`, {
				path: { id: form.id },
				revision: work.revision ?? undefined,
			});
			await applyResponse(response);
			return to;
		},
		onSuccess: (to) => {
			setAsking(null);
			setBlocked(false);
			work.setMissing([]);
			if (to === "publish") toast(words.published);
			if (to === "archive")
				toast(words.archived({ name: form.name }), {
					undo: () => void request("POST /forms/{id}/unarchive", { path: { id: form.id } }).then(applyResponse),
				});
		},
		onError: (error) => {
			if (error instanceof ApiError && error.fields.length > 0) {
				work.setMissing(error.fields);
				setBlocked(true);
				setTab("build");
			} else {
				if (error instanceof ApiError && error.status === 412) void client.invalidateQueries(within("form", form.id));
				toast(explain(error), { tone: "danger" });
			}
		},
	});
	const remove = useMutation({
		mutationFn: () => api("DELETE /forms/{id}", { path: { id: form.id }, revision: work.revision ?? undefined }),
		onError: (error) => isConflict(error) && void client.invalidateQueries(within("form", form.id)),
		onSuccess: () => {
			void client.invalidateQueries(within("forms"));
			navigate(to.forms());
		},
	});
	const publish = async () => {
		if (await work.save()) move.mutate("publish");
	};
	const save = async () => {
		setBlocked(!(await work.save()) && !work.conflict);
	};
	const saveDisabledReason =
		disabledReason ?? (work.conflict ? words.clash : undefined) ?? (work.dirty ? undefined : words.nothing);
	useShortcuts({ "mod+s": () => void (saveDisabledReason || save()) });
	return (
		<Page
			wide
			title={work.values.name || form.name}
			breadcrumbs={[{ name: words.forms, to: to.forms() }]}
			status={<StateBadge kind="form" state={form.status} />}
			actions={
				<>
					{!archived && (
						<span
							className={css.saving}
							role="status"
							data-bad={work.status.kind === "refused" || work.status.kind === "offline" || undefined}
						>
							{savingText(work)}
						</span>
					)}
					{!draft && work.dirty && <Button onClick={() => work.discard()}>{words.discard}</Button>}
					{draft && (
						<Button
							variant="primary"
							disabledReason={disabledReason ?? (work.conflict ? words.clash : undefined)}
							busy={move.isPending}
							onClick={() => void publish()}
						>
							{words.publish}
						</Button>
					)}
					{form.status === "published" && (
						<Button
							variant="primary"
							disabledReason={saveDisabledReason}
							busy={work.status.kind === "saving"}
							onClick={() => void save()}
						>
							{words.save}
						</Button>
					)}
					<Menu
						actions={[
							form.status === "published" && {
								id: "unpublish",
								label: words.unpublish,
								disabledReason: roleDisabledReason,
								run: () => setAsking("unpublish"),
							},
							!archived && {
								id: "archive",
								label: words.archive,
								disabledReason: roleDisabledReason,
								run: () => move.mutate("archive"),
							},
							archived && {
								id: "unarchive",
								label: words.unarchive,
								disabledReason: roleDisabledReason,
								run: () => move.mutate("unarchive"),
							},
							{
								id: "remove",
								label: words.remove,
								danger: true,
								disabledReason: roleDisabledReason ?? (archived ? undefined : words.whyRemove),
								run: () => setAsking("remove"),
							},
						]}
					/>
				</>
			}
		>
			<Tabs
				label={words.views}
				current={tab}
				tabs={[
					{ id: "build", name: words.build },
					{ id: "embed", name: words.embed },
					{ id: "submissions", name: words.submissions, count: form.submission_count },
				]}
			/>
			{archived && <Callout>{words.isArchived}</Callout>}
			{roleDisabledReason && tab === "build" && <Callout>{roleDisabledReason}</Callout>}
			{form.status === "published" && tab === "build" && !roleDisabledReason && (
				<Callout tone="progress">
					{words.live} <Link href={to.form(form.id, { tab: "embed" })}>{words.toEmbed}</Link>
				</Callout>
			)}
			{work.restored && work.dirty && !draft && <Callout tone="progress">{restoredText(work.restored)}</Callout>}
			{work.mergedChanges && (
				<Callout tone="progress">
					{words.joined({ fields: and(work.mergedChanges.fields.map((field) => names[field as keyof FormDraft])) })}
				</Callout>
			)}
			{work.conflict && (
				<Callout tone="warning" title={words.clash}>
					<Button small onClick={() => setChoosing(true)}>
						{words.choose}
					</Button>
				</Callout>
			)}
			{blocked && work.problems.length > 0 && (
				<Callout
					tone="danger"
					title={
						draft ? words.blocked({ count: work.problems.length }) : words.blockedSave({ count: work.problems.length })
					}
				>
					<ul className={css.blocks}>
						{work.problems.map((problem) => (
							<li key={`${problem.path} ${problem.message}`}>
								<button type="button" className={css.link} onClick={() => goTo(problem.path)}>
									{problemText(problem)}
								</button>
								{problem.path === "double_opt_in" && (
									<>
										{" "}
										<Link href={to.senders()}>{words.senders}</Link>
									</>
								)}
							</li>
						))}
					</ul>
				</Callout>
			)}
			{tab === "embed" ? (
				<Embed form={form} />
			) : tab === "submissions" ? (
				<Submissions form={form} />
			) : (
				<Build work={work} disabledReason={disabledReason} />
			)}
			{asking === "unpublish" && (
				<Confirm
					title={words.unpublishTitle({ name: form.name })}
					action={words.unpublish}
					busy={move.isPending}
					onConfirm={() => move.mutate("unpublish")}
					onClose={() => setAsking(null)}
				>
					<p>{words.unpublishText}</p>
				</Confirm>
			)}
			{asking === "remove" && (
				<Confirm
					title={words.removeTitle({ name: form.name })}
					action={words.remove}
					busy={remove.isPending}
					error={remove.error && <p role="alert">{explain(remove.error)}</p>}
					onConfirm={() => remove.mutate()}
					onClose={() => setAsking(null)}
				>
					<p>{words.removeText({ count: form.submission_count })}</p>
				</Confirm>
			)}
			{choosing && <Choose draft={work.store} names={names} codes={["fields"]} onClose={() => setChoosing(false)} />}
		</Page>
	);
}

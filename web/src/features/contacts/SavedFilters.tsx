import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client";
import type { SavedFilterRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useSession } from "../../base/session";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Checkbox, TextField } from "../../ui/Field";
import { Menu } from "../../ui/Menu";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import css from "./Contacts.module.css";
import { isSavedView, type View } from "./savedView";
import { within } from "../../base/queries";

const words = catalogue("contacts.savedFilters", {
	label: "Saved filters",
	all: "All contacts",
	changed: "changed",
	shared: "shared",
	save: "Save",
	saveAs: "Save as",
	reset: "Reset",
	title: "Save filter",
	name: "Name",
	share: "Share with everybody in this workspace",
	remove: "Delete filter",
	removed: "“{name}” deleted",
	saved: "“{name}” saved",
	actions: "Actions of {name}",
});

type Props = {
	current: string | null;
	state: View;
	onApply: (savedFilter: SavedFilterRow) => void;
	onReset: () => void;
	onSave: (name: string, shared: boolean) => void;
};

/** SavedFilters are tabs above the table: each is a filter that somebody saved. */
export function SavedFilters({ current, state, onApply, onReset, onSave }: Props) {
	const client = useQueryClient();
	const { user } = useSession();
	const [naming, setNaming] = useState(false);
	const [name, setName] = useState("");
	const [shared, setShared] = useState(false);
	const saved = useCollection("saved_filters");
	const all = saved.data?.data ?? [];
	const now = all.find((savedFilter) => savedFilter.id === current);
	const changed = now && !isSavedView(state, now);
	const dirty = now ? changed : state.search !== "" || state.filters.length > 0;
	const refresh = () => client.invalidateQueries(within("saved_filters"));
	const update = useMutation({
		mutationFn: (savedFilter: SavedFilterRow) =>
			api("PUT /saved-filters/{id}", {
				path: { id: savedFilter.id },
				body: {
					search: state.search || null,
					filters: state.filters,
					sort: state.sort,
					dir: state.dir,
					columns: state.columns,
				},
			}),
		onSuccess: (savedFilter) => {
			void refresh();
			toast(words.saved({ name: savedFilter.name }));
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const remove = useMutation({
		mutationFn: (savedFilter: SavedFilterRow) => api("DELETE /saved-filters/{id}", { path: { id: savedFilter.id } }),
		onSuccess: (_, savedFilter) => {
			void refresh();
			onReset();
			toast(words.removed({ name: savedFilter.name }), {
				undo: () =>
					void api("POST /saved-filters", {
						body: {
							name: savedFilter.name,
							shared: savedFilter.shared,
							search: savedFilter.search,
							filters: savedFilter.filters,
							sort: savedFilter.sort,
							dir: savedFilter.dir,
							columns: savedFilter.columns,
						},
					}).then(refresh),
			});
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	if (all.length === 0 && !dirty) return null;
	return (
		<fieldset className={css.tabs} aria-label={words.label}>
			<Button small variant="quiet" aria-pressed={!now && !dirty} onClick={onReset}>
				{words.all}
			</Button>
			{all.map((savedFilter) => (
				<Button
					key={savedFilter.id}
					small
					variant="quiet"
					aria-pressed={savedFilter.id === current}
					onClick={() => onApply(savedFilter)}
				>
					{savedFilter.name}
					{savedFilter.shared && savedFilter.created_by !== user.id && ` (${words.shared})`}
					{savedFilter.id === current && changed && ` · ${words.changed}`}
				</Button>
			))}
			{dirty && (
				<>
					{now && (
						<>
							<Button small onClick={() => update.mutate(now)}>
								{words.save}
							</Button>
							<Button
								small
								variant="quiet"
								onClick={(event) => {
									(event.currentTarget as HTMLElement)
										.closest("fieldset")
										?.querySelector<HTMLElement>("[aria-pressed=true]")
										?.focus(); // this button goes
									onApply(now);
								}}
							>
								{words.reset}
							</Button>
						</>
					)}
					<Button small onClick={() => setNaming(true)}>
						{words.saveAs}
					</Button>
				</>
			)}
			{now && (
				<Menu
					small
					label={words.actions({ name: now.name })}
					actions={[{ id: "remove", label: words.remove, danger: true, run: () => remove.mutate(now) }]}
				/>
			)}
			{naming && (
				<Dialog
					title={words.title}
					onClose={() => setNaming(false)}
					onSubmit={() => {
						onSave(name.trim(), shared);
						setNaming(false);
						setName("");
					}}
					submit={{ label: words.save, disabledReason: name.trim() ? undefined : words.name }}
				>
					<TextField label={words.name} value={name} onChange={setName} maxLength={100} autoFocus />
					<Checkbox label={words.share} checked={shared} onChange={setShared} />
				</Dialog>
			)}
		</fieldset>
	);
}

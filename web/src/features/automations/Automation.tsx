import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { Suspense, useRef, useState } from "react";
import { useLocation, useParams as useRoute } from "wouter";
import { ApiError, newKey, request, type Versioned } from "../../api/client";
import type { Automation, AutomationAction, AutomationBody } from "../../api/schema";
import { collection, useCopyAhead } from "../../base/collections";
import { heldIds } from "../../sync/device";
import { later } from "../../base/lazy";
import { useParam } from "../../base/params";
import { useKey, useWhyNot } from "../../base/session";
import type { Group } from "../rules/groups";
import { type Config, same } from "../sequences/graph";
import { RuleField } from "../sequences/fields/Rule";
import StepFields from "../sequences/StepFields";
import fields from "../sequences/StepFields.module.css";
import { iconOf } from "../sequences/stepIcons";
import { type Names, nameOfKind, titleOf, triggerWords } from "../sequences/steps";
import { useNames } from "../sequences/useNames";
import { TriggerFields } from "../sequences/Trigger";
import { type Place, useWorkingCopy } from "../../sync/workingCopy";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Cards } from "../../ui/Cards";
import { Checkbox, Switch, TextField } from "../../ui/Field";
import { isGone, Missing } from "../../ui/Missing";
import { Menu } from "../../ui/Menu";
import { keptText } from "../../ui/keptForm";
import { Card, Callout, Page } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { Tabs } from "../../ui/Tabs";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { actionKinds, actionStep, mostActions } from "./actions";

const Runs = later(() => import("./Runs"));

const words = catalogue("automations.automation", {
	automations: "Automations",
	fresh: "New automation",
	views: "Views of the automation",
	rule: "Rule",
	runs: "Runs",
	name: "Name",
	when: "When",
	who: "For whom",
	whoText: "Only contacts who match this rule when it happens. Without a rule, everybody.",
	filtered: "Only contacts who match a rule",
	what: "Then",
	whatText: "Actions run in this order. An action that fails changes nothing, and the others still run.",
	none: "Add a first action.",
	add: "Add action",
	most: "No more than ten actions.",
	save: "Save",
	create: "Create",
	saved: "Saved",
	created: "Created and active",
	clean: "No changes.",
	problems: "{count, plural, one {Not saved: # problem} other {Not saved: # problems}}",
	active: "Active",
	activeHelp: "While paused, nothing is done, and what happens in the meantime is not processed later.",
	archived: "An archived automation is read-only. Activate or pause it first.",
	unsaved: "Save your changes first.",
	conflict: "Somebody else changed this automation in the meantime.",
	reload: "Reload",
	discard: "Discard",
});

type Values = {
	name: string;
	trigger_type: string;
	trigger_config: Config;
	definition: Group | null;
	actions: AutomationAction[];
};

const blank: Values = {
	name: "",
	trigger_type: "event",
	trigger_config: { event_name: "" },
	definition: null,
	actions: [],
};

const valuesOf = (a: Automation): Values => ({
	name: a.name,
	trigger_type: a.trigger_type,
	trigger_config: a.trigger_config,
	definition: a.definition as Group | null,
	actions: a.actions,
});

/** AutomationPage is one automation: what starts it, for whom, what it does; and its runs. */
export default function AutomationPage() {
	const { id = "" } = useRoute<{ id: string }>();
	const key = useKey();
	const names = useNames();
	// With the names: the form asks for its copy when the automation is there.
	const fresh = id === "new";
	useCopyAhead("automation", id, !useWhyNot("GET /working-copies") && !fresh);
	const found = useQuery({
		queryKey: key("automation", id),
		enabled: !fresh,
		queryFn: ({ signal }) => request("GET /automations/{id}", { path: { id }, signal }),
		refetchInterval: 15_000,
	});
	if (fresh) return <Fresh names={names} />;
	if (!found.data || isGone(found.error))
		return <Missing query={found} list={words.automations} to="/automations" kept={{ kinds: ["automation"], id }} />;
	return <Edit key={id} names={names} server={found.data} reload={() => void found.refetch()} />;
}

/** Fresh is a new automation. What is written is kept until it is created: the newest is brought back. */
function Fresh({ names }: { names: Names }) {
	const key = useKey();
	const why = useWhyNot("POST /automations");
	const kept = useQuery({
		queryKey: key("working-copies", "automation"),
		queryFn: async () => {
			const [held, kept] = await Promise.all([heldIds("automation"), collection("working_copies")]);
			return [...held, ...kept.data.filter((c) => c.kind === "automation").map((c) => c.id)];
		},
		enabled: !why,
		gcTime: 0,
		staleTime: Number.POSITIVE_INFINITY,
	});
	if (!why && kept.isPending) {
		return (
			<Page title={words.fresh} trail={[{ name: words.automations, to: "/automations" }]}>
				<Skeleton rows={8} />
			</Page>
		);
	}
	const newest = kept.data?.find((c) => c.startsWith("new-"));
	return <Edit names={names} server={null} copyOf={newest} reload={() => undefined} />;
}

type EditProps = {
	names: Names;
	server: Versioned<Automation> | null;
	/** The working copy of one that is not created yet. */
	copyOf?: string;
	reload: () => void;
};

function Edit({ names, server, copyOf, reload }: EditProps) {
	const key = useKey();
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const [tab] = useParam("tab", "rule");
	const a = server?.data;
	const whyRole = useWhyNot(a ? "PUT /automations/{id}" : "POST /automations");
	const why = whyRole ?? (a?.status === "archived" ? words.archived : undefined);
	const [base, setBase] = useState({ values: a ? valuesOf(a) : blank, revision: server?.revision ?? null });
	const [v, setValues] = useState(base.values);
	const [problems, setProblems] = useState<string[]>([]);
	const [conflict, setConflict] = useState(false);
	const [busy, setBusy] = useState(false);
	const [restored, setRestored] = useState<Place | null>(null);
	const dirty = !same(v, base.values);
	// Runs raise counts but not the revision; what others changed is taken unless there is own work.
	if (server && a && server.revision !== base.revision && !dirty) {
		setBase({ values: valuesOf(a), revision: server.revision });
		setValues(valuesOf(a));
	}
	const idempotencyKey = useRef(newKey());
	const copyId = useRef(a?.id ?? copyOf ?? `new-${crypto.randomUUID()}`);
	const copy = useWorkingCopy<{ mine: Values; from: Values }>({
		kind: "automation",
		id: copyId.current,
		title: v.name || words.fresh,
		base: a ? Number((base.revision ?? "").replace(/\D/g, "")) || null : null,
		value: { mine: v, from: base.values },
		dirty,
		may: !why,
		restore: ({ mine, from }, revision, place) => {
			if (!mine || same(mine, base.values)) {
				void copy.drop();
				return;
			}
			// If somebody has saved it since, saving says so.
			if (a && from && revision !== null && !same(from, base.values))
				setBase({ values: from, revision: `"${revision}"` });
			setValues(mine);
			setRestored(place);
		},
	});
	const set = (part: Partial<Values>) => {
		setValues({ ...v, ...part });
		setProblems((all) => all.filter((p) => !Object.keys(part).some((name) => p.startsWith(name))));
	};
	const problem = (path: string) =>
		problems
			.find((p) => p === path || p.startsWith(`${path}:`) || p.startsWith(`${path}.`) || p.startsWith(`${path}[`))
			?.replace(/^[\w.[\]-]+: /, "");
	const trail = [{ name: words.automations, to: "/automations" }];

	const failed = (e: unknown) => {
		if (e instanceof ApiError && e.code === "REVISION_CONFLICT") setConflict(true);
		else if (e instanceof ApiError && e.fields.length > 0)
			setProblems(e.fields.map((f) => (f.path ? `${f.path}: ${f.message}` : f.message)));
		else setProblems([explain(e)]);
	};
	const adopt = (got: Versioned<Automation>) => {
		client.setQueryData(key("automation", got.data.id), got);
		void client.invalidateQueries({ queryKey: key("automations") });
		setBase({ values: valuesOf(got.data), revision: got.revision });
	};
	const save = async () => {
		setBusy(true);
		setProblems([]);
		setConflict(false);
		const body = { ...v, definition: v.definition ?? (a ? null : undefined) } as AutomationBody;
		try {
			if (a) {
				const got = await request("PUT /automations/{id}", {
					path: { id: a.id },
					body,
					revision: base.revision ?? undefined,
				});
				adopt(got);
				setValues(valuesOf(got.data));
				setRestored(null);
				await copy.drop();
				toast(words.saved);
			} else {
				const got = await request("POST /automations", { body, idempotencyKey: idempotencyKey.current });
				adopt(got);
				await copy.drop();
				toast(words.created);
				navigate(`/automations/${got.data.id}`);
			}
		} catch (e) {
			if (e instanceof ApiError && e.status !== 0) idempotencyKey.current = newKey();
			failed(e);
		} finally {
			setBusy(false);
		}
	};
	const turn = async (on: boolean) => {
		if (!a) return;
		try {
			const got = await request("PUT /automations/{id}", {
				path: { id: a.id },
				body: { status: on ? "active" : "paused" },
			});
			client.setQueryData(key("automation", a.id), got);
			void client.invalidateQueries({ queryKey: key("automations") });
			if (same(valuesOf(got.data), base.values)) setBase({ values: base.values, revision: got.revision });
		} catch (e) {
			toast(explain(e), { tone: "danger" });
		}
	};
	const actionTitle = (x: AutomationAction) => titleOf(actionStep(x), names);
	return (
		<Page
			title={a?.name ?? words.fresh}
			trail={trail}
			status={a && <StateBadge kind="automation" state={a.status} />}
			actions={
				tab === "rule" && (
					<Button
						look="primary"
						busy={busy}
						why={why ?? (dirty || !a ? undefined : words.clean)}
						onClick={() => void save()}
					>
						{a ? words.save : words.create}
					</Button>
				)
			}
		>
			{a && (
				<Switch
					label={words.active}
					help={words.activeHelp}
					checked={a.status === "active"}
					why={whyRole}
					onChange={(on) => void turn(on)}
				/>
			)}
			{a && (
				<Tabs
					label={words.views}
					current={tab}
					tabs={[
						{ id: "rule", name: words.rule },
						{ id: "runs", name: words.runs, count: a.run_count },
					]}
				/>
			)}
			{why && <Callout>{why}</Callout>}
			{tab === "runs" && a ? (
				<Suspense fallback={<Skeleton rows={8} />}>
					<Runs automation={a} />
				</Suspense>
			) : (
				<>
					{restored && dirty && (
						<Callout title={keptText(restored)}>
							<Button
								small
								onClick={() => {
									setValues(base.values);
									setRestored(null);
								}}
							>
								{words.discard}
							</Button>
						</Callout>
					)}
					{conflict && (
						<Callout tone="warning" title={words.conflict}>
							<Button
								small
								onClick={() => {
									setConflict(false);
									setValues(base.values);
									reload();
								}}
							>
								{words.reload}
							</Button>
						</Callout>
					)}
					{problems.length > 0 && (
						<Callout tone="danger" title={words.problems({ count: problems.length })}>
							<ul>
								{problems.map((p) => (
									<li key={p}>{p}</li>
								))}
							</ul>
						</Callout>
					)}
					<fieldset disabled={why !== undefined} className={fields.bare}>
						<Card title={words.name}>
							<TextField
								label={words.name}
								hideLabel
								path="name"
								value={v.name}
								onChange={(name) => set({ name })}
								error={problem("name")}
							/>
						</Card>
						<Card title={words.when}>
							<p className={fields.sentence}>
								{triggerWords(v.trigger_type, { ...v.trigger_config, definition: undefined }, names)}
							</p>
							<TriggerFields
								required
								type={v.trigger_type}
								config={v.trigger_config}
								names={names}
								onChange={(trigger_type, trigger_config) => set({ trigger_type, trigger_config })}
								problem={(path) => problem(path === "trigger_type" ? path : `trigger_config.${path}`)}
							/>
						</Card>
						<Card title={words.who}>
							<p className={fields.help}>{words.whoText}</p>
							<Checkbox
								label={words.filtered}
								checked={v.definition !== null}
								onChange={(on) => set({ definition: on ? { logic: "and", conditions: [] } : null })}
							/>
							{v.definition && (
								<RuleField
									value={v.definition}
									onChange={(definition) => set({ definition })}
									error={problem("definition")}
								/>
							)}
						</Card>
						<Card title={words.what}>
							<p className={fields.help}>{words.whatText}</p>
							{v.actions.length === 0 && <p>{words.none}</p>}
							<Cards
								items={v.actions}
								title={(x) => actionTitle(x)}
								copy={(x) => structuredClone(x)}
								full={v.actions.length >= mostActions ? words.most : undefined}
								readOnly={why !== undefined}
								open
								onChange={(actions) => set({ actions })}
							>
								{(x, i) => (
									<StepFields
										type={actionStep(x).type}
										config={x.config}
										names={names}
										onChange={(config) => set({ actions: v.actions.map((o, j) => (j === i ? { ...o, config } : o)) })}
										problem={(path) => problem(`actions[${i}].config.${path}`)}
									/>
								)}
							</Cards>
							{!why && (
								<div>
									<Menu
										start
										label={words.add}
										actions={actionKinds.map((k) => {
											const Icon = iconOf(k);
											return {
												id: k.id,
												label: nameOfKind(k.id).name,
												help: nameOfKind(k.id).help,
												icon: <Icon aria-hidden />,
												why: v.actions.length >= mostActions ? words.most : undefined,
												run: () => set({ actions: [...v.actions, { type: k.type, config: k.config() }] }),
											};
										})}
									>
										<Plus aria-hidden />
										{words.add}
									</Menu>
								</div>
							)}
							{problem("actions") && v.actions.length === 0 && <p role="alert">{problem("actions")}</p>}
						</Card>
					</fieldset>
				</>
			)}
		</Page>
	);
}

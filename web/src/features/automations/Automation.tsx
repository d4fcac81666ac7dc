import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { Suspense, useState } from "react";
import { useLocation, useParams as useRoute } from "wouter";
import { ApiError, newKey, request, type Versioned } from "../../api/client";
import type { Automation, AutomationAction, AutomationBody } from "../../api/schema";
import { useCopyAhead } from "../../base/collections";
import { later } from "../../base/lazy";
import { useParam } from "../../base/params";
import { useWhyNot } from "../../base/session";
import type { Group } from "../rules/groups";
import type { Config } from "../sequences/graph";
import { RuleField } from "../sequences/fields/Rule";
import fields from "../sequences/StepFields.module.css";
import { iconOf } from "../sequences/stepIcons";
import { type Names, nameOfKind, titleOf, triggerWords } from "../sequences/steps";
import { useNames } from "../sequences/useNames";
import { TriggerFields } from "../sequences/Trigger";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Cards } from "../../ui/Cards";
import { isInside } from "../../ui/problems";
import { Checkbox, Switch, TextField } from "../../ui/Field";
import { isGone, Missing } from "../../ui/Missing";
import { Menu } from "../../ui/Menu";
import { KeptCallout, useKeptForm } from "../../ui/keptForm";
import { Card, Callout, Page } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { Tabs } from "../../ui/Tabs";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { actionKinds, actionStep, mostActions } from "./actions";
import { fieldSentence } from "../../base/words/problems";
import { ownName } from "../../base/words/fieldNames";
import { within } from "../../base/queries";
import { automationQuery } from "./queries";
import { to } from "../../base/paths";

const Runs = later(() => import("./Runs"));
const StepFields = later(() => import("../sequences/StepFields"));

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
	const names = useNames();
	// With the names: the form asks for its copy when the automation is there.
	const fresh = id === "new";
	useCopyAhead("automation", id, !useWhyNot("GET /working-copies") && !fresh);
	const found = useQuery({ ...automationQuery(id), enabled: !fresh });
	if (fresh) return <Edit names={names} server={null} />;
	if (!found.data || isGone(found.error))
		return (
			<Missing query={found} list={words.automations} to={to.automations()} kept={{ kinds: ["automation"], id }} />
		);
	return <Edit key={id} names={names} server={found.data} />;
}

/** Edit changes an automation, or creates one if there is none yet. */
function Edit({ names, server }: { names: Names; server: Versioned<Automation> | null }) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const [tab] = useParam("tab", "rule");
	const a = server?.data;
	const whyRole = useWhyNot(a ? "PUT /automations/{id}" : "POST /automations");
	const why = whyRole ?? (a?.status === "archived" ? words.archived : undefined);
	const form = useKeptForm<Values>(a ? valuesOf(a) : blank, {
		kind: "automation",
		id: a?.id,
		title: a?.name ?? words.fresh,
		may: !why,
		read: async () => {
			const got = await request("GET /automations/{id}", { path: { id: a?.id ?? "" } });
			client.setQueryData(automationQuery(got.data.id).queryKey, got);
			return { values: valuesOf(got.data), revision: got.revision };
		},
		names: {
			name: words.name,
			trigger_type: words.when,
			trigger_config: words.when,
			definition: words.who,
			actions: words.what,
		},
	});
	const { values: v, set, dirty, busy } = form;
	const answered = (form.problems.answered ?? []).filter((p) => p.path in form.problems.byPath);
	const problems = [...answered.map((p) => fieldSentence(p)), ...form.problems.general];
	const problem = (path: string) => {
		const found = answered.find((p) => isInside(p.path, path));
		// What is wrong inside a rule is shown at its condition.
		if (found && /^(?:definition|conditions)[\w.[\]]*: /.test(found.message)) return found.message;
		return found && fieldSentence(found, ownName(found.path));
	};
	const trail = [{ name: words.automations, to: to.automations() }];
	const [idempotencyKey, setIdempotencyKey] = useState(newKey);
	const save = () =>
		form.submit(async (values, revision) => {
			const body = { ...values, definition: values.definition ?? (a ? null : undefined) } as AutomationBody;
			try {
				const got = a
					? await request("PUT /automations/{id}", { path: { id: a.id }, body, revision })
					: await request("POST /automations", { body, idempotencyKey });
				client.setQueryData(automationQuery(got.data.id).queryKey, got);
				void client.invalidateQueries(within("automations"));
				toast(a ? words.saved : words.created);
				if (!a) navigate(to.automation(got.data.id));
			} catch (e) {
				if (e instanceof ApiError && e.status !== 0) setIdempotencyKey(newKey());
				throw e;
			}
		});
	const turn = async (on: boolean) => {
		if (!a) return;
		try {
			const got = await request("PUT /automations/{id}", {
				path: { id: a.id },
				body: { status: on ? "active" : "paused" },
			});
			client.setQueryData(automationQuery(a.id).queryKey, got);
			void client.invalidateQueries(within("automations"));
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
					<KeptCallout form={form} />
					{problems.length > 0 && (
						<Callout tone="danger" title={words.problems({ count: problems.length })}>
							<ul>
								{problems.map((sentence) => (
									<li key={sentence}>{sentence}</li>
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
									<Suspense fallback={<Skeleton rows={2} />}>
										<StepFields
											type={actionStep(x).type}
											config={x.config}
											names={names}
											onChange={(config) => set({ actions: v.actions.map((o, j) => (j === i ? { ...o, config } : o)) })}
											problem={(path) => problem(`actions[${i}].config.${path}`)}
										/>
									</Suspense>
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

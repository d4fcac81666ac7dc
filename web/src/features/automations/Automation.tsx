import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { Suspense, useState } from "react";
import { useLocation, useParams as useRoute } from "wouter";
import { ApiError, newKey, request, type Versioned } from "../../api/client";
import type { Automation, AutomationAction, AutomationBody } from "../../api/schema";
import { usePrefetchedCopy } from "../../base/collections";
import { lazyComponent } from "../../base/lazy";
import { useParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import type { Group } from "../rules/groups";
import { StartEvent, startEventOf } from "../rules/startEvent";
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
import { isGone, NotFound } from "../../ui/NotFound";
import { Menu } from "../../ui/Menu";
import { RestoredCallout, useDraftForm } from "../../ui/draftForm";
import { Card, Callout, Page } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { Tabs } from "../../ui/Tabs";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain, fieldSentence } from "../../base/words/errors";
import { actionKinds, actionStep, mostActions } from "./actions";
import { ownName } from "../../base/words/fieldNames";
import { within } from "../../base/queries";
import { automationQuery } from "./queries";
import { to } from "../../base/paths";

const Runs = lazyComponent(() => import("./Runs"));
const StepFields = lazyComponent(() => import("../sequences/StepFields"));

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

const valuesOf = (automation: Automation): Values => ({
	name: automation.name,
	trigger_type: automation.trigger_type,
	trigger_config: automation.trigger_config,
	definition: automation.definition as Group | null,
	actions: automation.actions,
});

/** AutomationPage is one automation: what starts it, for whom, what it does; and its runs. */
export default function AutomationPage() {
	const { id = "" } = useRoute<{ id: string }>();
	const names = useNames();
	// With the names: the form asks for its copy when the automation is there.
	const isNew = id === "new";
	usePrefetchedCopy("automation", id, !useDisabledReason("GET /working-copies") && !isNew);
	const query = useQuery({ ...automationQuery(id), enabled: !isNew });
	if (isNew) return <Edit names={names} server={null} />;
	if (!query.data || isGone(query.error))
		return (
			<NotFound
				query={query}
				list={words.automations}
				to={to.automations()}
				unsavedInput={{ kinds: ["automation"], id }}
			/>
		);
	return <Edit key={id} names={names} server={query.data} />;
}

/** Edit changes an automation, or creates one if there is none yet. */
function Edit({ names, server }: { names: Names; server: Versioned<Automation> | null }) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const [tab] = useParam("tab", "rule");
	const automation = server?.data;
	const roleDisabledReason = useDisabledReason(automation ? "PUT /automations/{id}" : "POST /automations");
	const disabledReason = roleDisabledReason ?? (automation?.status === "archived" ? words.archived : undefined);
	const form = useDraftForm<Values>(automation ? valuesOf(automation) : blank, {
		kind: "automation",
		id: automation?.id,
		title: automation?.name ?? words.fresh,
		canEdit: !disabledReason,
		read: async () => {
			const response = await request("GET /automations/{id}", { path: { id: automation?.id ?? "" } });
			client.setQueryData(automationQuery(response.data.id).queryKey, response);
			return { values: valuesOf(response.data), revision: response.revision };
		},
		names: {
			name: words.name,
			trigger_type: words.when,
			trigger_config: words.when,
			definition: words.who,
			actions: words.what,
		},
	});
	const { values, set, dirty, busy } = form;
	const answered = (form.problems.answered ?? []).filter((problem) => problem.path in form.problems.byPath);
	const problems = [...answered.map((problem) => fieldSentence(problem)), ...form.problems.general];
	const problem = (path: string) => {
		const problem = answered.find((problem) => isInside(problem.path, path));
		// What is wrong inside a rule is shown at its condition.
		if (problem && /^(?:definition|conditions)[\w.[\]]*: /.test(problem.message)) return problem.message;
		return problem && fieldSentence(problem, ownName(problem.path));
	};
	const breadcrumbs = [{ name: words.automations, to: to.automations() }];
	const [idempotencyKey, setIdempotencyKey] = useState(newKey);
	const save = () =>
		form.submit(async (values, revision) => {
			const body = { ...values, definition: values.definition ?? (automation ? null : undefined) } as AutomationBody;
			try {
				const response = automation
					? await request("PUT /automations/{id}", { path: { id: automation.id }, body, revision })
					: await request("POST /automations", { body, idempotencyKey });
				client.setQueryData(automationQuery(response.data.id).queryKey, response);
				void client.invalidateQueries(within("automations"));
				toast(automation ? words.saved : words.created);
				if (!automation) navigate(to.automation(response.data.id));
			} catch (error) {
				if (error instanceof ApiError && error.status !== 0) setIdempotencyKey(newKey());
				throw error;
			}
		});
	const setActive = async (active: boolean) => {
		if (!automation) return;
		try {
			const response = await request("PUT /automations/{id}", {
				path: { id: automation.id },
				body: { status: active ? "active" : "paused" },
			});
			client.setQueryData(automationQuery(automation.id).queryKey, response);
			void client.invalidateQueries(within("automations"));
		} catch (error) {
			toast(explain(error), { tone: "danger" });
		}
	};
	const actionTitle = (action: AutomationAction) => titleOf(actionStep(action), names);
	return (
		<Page
			title={automation?.name ?? words.fresh}
			breadcrumbs={breadcrumbs}
			status={automation && <StateBadge kind="automation" state={automation.status} />}
			actions={
				tab === "rule" && (
					<Button
						variant="primary"
						busy={busy}
						disabledReason={disabledReason ?? (dirty || !automation ? undefined : words.clean)}
						onClick={() => void save()}
					>
						{automation ? words.save : words.create}
					</Button>
				)
			}
		>
			{automation && (
				<Switch
					label={words.active}
					help={words.activeHelp}
					checked={automation.status === "active"}
					disabledReason={roleDisabledReason}
					onChange={(active) => void setActive(active)}
				/>
			)}
			{automation && (
				<Tabs
					label={words.views}
					current={tab}
					tabs={[
						{ id: "rule", name: words.rule },
						{ id: "runs", name: words.runs, count: automation.run_count },
					]}
				/>
			)}
			{disabledReason && <Callout>{disabledReason}</Callout>}
			{tab === "runs" && automation ? (
				<Suspense fallback={<Skeleton rows={8} />}>
					<Runs automation={automation} />
				</Suspense>
			) : (
				<>
					<RestoredCallout form={form} />
					{problems.length > 0 && (
						<Callout tone="danger" title={words.problems({ count: problems.length })}>
							<ul>
								{problems.map((sentence) => (
									<li key={sentence}>{sentence}</li>
								))}
							</ul>
						</Callout>
					)}
					<fieldset disabled={disabledReason !== undefined} className={fields.bare}>
						<Card title={words.name}>
							<TextField
								label={words.name}
								hideLabel
								path="name"
								value={values.name}
								onChange={(name) => set({ name })}
								error={problem("name")}
							/>
						</Card>
						<Card title={words.when}>
							<p className={fields.sentence}>
								{triggerWords(values.trigger_type, { ...values.trigger_config, definition: undefined }, names)}
							</p>
							<TriggerFields
								required
								type={values.trigger_type}
								config={values.trigger_config}
								names={names}
								onChange={(trigger_type, trigger_config) => set({ trigger_type, trigger_config })}
								problem={(path) => problem(path === "trigger_type" ? path : `trigger_config.${path}`)}
							/>
						</Card>
						<Card title={words.who}>
							<p className={fields.help}>{words.whoText}</p>
							<Checkbox
								label={words.filtered}
								checked={values.definition !== null}
								onChange={(checked) => set({ definition: checked ? { logic: "and", conditions: [] } : null })}
							/>
							{values.definition && (
								<StartEvent value={startEventOf(values.trigger_type, values.trigger_config)}>
									<RuleField
										value={values.definition}
										onChange={(definition) => set({ definition })}
										error={problem("definition")}
									/>
								</StartEvent>
							)}
						</Card>
						<Card title={words.what}>
							<p className={fields.help}>{words.whatText}</p>
							{values.actions.length === 0 && <p>{words.none}</p>}
							<Cards
								items={values.actions}
								title={(action) => actionTitle(action)}
								copy={(action) => structuredClone(action)}
								limitReached={values.actions.length >= mostActions ? words.most : undefined}
								readOnly={disabledReason !== undefined}
								open
								onChange={(actions) => set({ actions })}
							>
								{(action, i) => (
									<Suspense fallback={<Skeleton rows={2} />}>
										<StepFields
											type={actionStep(action).type}
											config={action.config}
											names={names}
											onChange={(config) =>
												set({ actions: values.actions.map((action, j) => (j === i ? { ...action, config } : action)) })
											}
											problem={(path) => problem(`actions[${i}].config.${path}`)}
										/>
									</Suspense>
								)}
							</Cards>
							{!disabledReason && (
								<div>
									<Menu
										start
										label={words.add}
										actions={actionKinds.map((actionKind) => {
											const Icon = iconOf(actionKind);
											return {
												id: actionKind.id,
												label: nameOfKind(actionKind.id).name,
												help: nameOfKind(actionKind.id).help,
												icon: <Icon aria-hidden />,
												disabledReason: values.actions.length >= mostActions ? words.most : undefined,
												run: () =>
													set({ actions: [...values.actions, { type: actionKind.type, config: actionKind.config() }] }),
											};
										})}
									>
										<Plus aria-hidden />
										{words.add}
									</Menu>
								</div>
							)}
							{problem("actions") && values.actions.length === 0 && <p role="alert">{problem("actions")}</p>}
						</Card>
					</fieldset>
				</>
			)}
		</Page>
	);
}

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, newKey } from "../../api/client";
import { useParams } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { toDefinition, type Group, parseRule } from "../rules/groups";
import { Button } from "../../ui/Button";
import { TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { Locked } from "../../ui/Locked";
import { Card, Callout, Page } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { definitionFault } from "./definitionFault";
import { Rules } from "./Rules";
import { within } from "../../base/queries";
import { to } from "../../base/paths";

const words = catalogue("segments.newSegment", {
	title: "New segment",
	segments: "Segments",
	name: "Name",
	save: "Create",
	left: "Your search for “{search}” was not taken over, because segments only have conditions. Add a condition on the name or address if you need it.",
});

/** The example that a new segment begins with. */
const example: Group = {
	logic: "and",
	conditions: [
		{ field: "country", operator: "in", value: ["DE"] },
		{ type: "email", event: "clicked", operator: "did", window: { in_the_last: { amount: 30, unit: "day" } } },
	],
};

/** NewSegment creates a segment by rule. */
export default function NewSegment() {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const disabledReason = useDisabledReason("POST /segments");
	const locked = useDisabledReason("PUT /segments/{key}");
	const [params] = useParams();
	const [rule, setRule] = useState(() => parseRule(params.get("rule")) ?? example);
	const [fault, setFault] = useState<ReturnType<typeof definitionFault>>(null);
	const [idempotencyKey, setIdempotencyKey] = useState(newKey);
	const form = useForm({ name: params.get("name") ?? "" });
	const send = () =>
		form.submit(async () => {
			setFault(null);
			try {
				const created = await api("POST /segments", {
					body: { name: form.values.name, type: "dynamic", definition: toDefinition(rule) },
					idempotencyKey,
				});
				void client.invalidateQueries(within("segments"));
				navigate(to.segment(created.segment_key), { replace: true }); // Back does not lead to an empty form
			} catch (error) {
				setIdempotencyKey(newKey());
				setFault(definitionFault(error));
				throw error;
			}
		});
	return (
		<Page wide title={words.title} breadcrumbs={[{ name: words.segments, to: to.segments() }]}>
			<FormProblems problems={form.problems} />
			{params.get("left") && <Callout>{words.left({ search: params.get("left") ?? "" })}</Callout>}
			<Locked disabledReason={locked}>
				<Card>
					<TextField
						label={words.name}
						path="name"
						value={form.values.name}
						onChange={(name) => form.set({ name })}
						error={form.problems.byPath.name}
						maxLength={200}
					/>
				</Card>
			</Locked>
			<Rules
				locked={locked !== undefined}
				value={rule}
				onChange={(group) => {
					setRule(group);
					setFault(null);
				}}
				fault={fault}
				save={
					<Button variant="primary" busy={form.busy} disabledReason={disabledReason} onClick={() => void send()}>
						{words.save}
					</Button>
				}
			/>
		</Page>
	);
}

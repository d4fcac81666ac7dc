import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ApiError, api } from "../api/client";
import type { SegmentPreview } from "../api/schema";
import { useKey } from "../app/session";
import { nameOf } from "../contacts/columns";
import { Builder, type Fault } from "../rules/Builder";
import type { Group } from "../rules/leaves";
import { Card } from "../ui/Page";
import { useSettled } from "../ui/useSettled";
import { catalogue, full, plural } from "../words/catalogue";
import { explain } from "../words/errors";
import css from "./Segment.module.css";

const words = catalogue({
	rule: "Rule",
	matches: "Who matches now",
	counting: "Counting",
	sum: (sendable: number, total: number) => `${full(total)} match, ${full(sendable)} of them can be mailed.`,
	before: (total: number) => `${full(total)} matched when it was last saved and counted.`,
	nobody: "Nobody matches.",
	incomplete: (n: number) => plural(n, { one: "# problem in the rule, at its condition.", other: "# problems in the rule, at their conditions." }),
	first: "Some of them",
});

/** definitionFault returns the problem that the server found in a rule, with its path. */
export function definitionFault(error: unknown): Fault | null {
	if (!(error instanceof ApiError) || error.status !== 400) return null;
	const [first, ...others] = error.fields;
	const path = error.details.path;
	return { path: first?.path ?? (typeof path === "string" ? path : ""), message: first?.message ?? explain(error), others };
}

/** Rules edits a rule and counts who matches it, a moment after the last change. */
export function Rules({ value, onChange, saved, fault }: { value: Group; onChange: (g: Group) => void; saved?: number | null; fault?: Fault | null }) {
	const key = useKey();
	const text = JSON.stringify(value);
	const asked = useSettled(text, 400);
	const preview = useQuery({
		queryKey: key("segments", "preview", asked),
		enabled: value.conditions.length > 0,
		staleTime: 0,
		retry: false,
		placeholderData: keepPreviousData,
		queryFn: ({ signal }) => api("POST /segments/preview", { body: { definition: JSON.parse(asked) }, signal }) as Promise<SegmentPreview>,
	});
	const p = preview.data;
	const found = definitionFault(preview.error);
	return (
		<div className={css.rules}>
			<Card title={words.rule}>
				<Builder value={value} onChange={onChange} fault={fault ?? found} />
			</Card>
			<Card title={words.matches}>
				<p role="status" className={preview.isFetching ? css.dim : undefined}>
					{found && found.path !== "" ? words.incomplete(1 + (found.others?.length ?? 0)) : preview.isError ? explain(preview.error) : p ? (p.member_count_total === 0 ? words.nobody : words.sum(p.member_count, p.member_count_total)) : words.counting}
				</p>
				{saved !== undefined && saved !== null && <p className={css.muted}>{words.before(saved)}</p>}
				{p && p.sample.length > 0 && (
					<>
						<h3>{words.first}</h3>
						<ul className={css.sample}>
							{p.sample.map((c) => (
								<li key={c.id}>
									{nameOf(c)} <span className={css.muted}>{c.email}</span>
								</li>
							))}
						</ul>
					</>
				)}
			</Card>
		</div>
	);
}

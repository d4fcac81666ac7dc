import { CircleX } from "lucide-react";
import { useRef, useState } from "react";
import { ApiError } from "../../api/client";
import type { BindingOptions, Issue, PreviewAnswer } from "../../api/schema";
import { ImmediateErrors } from "../../ui/errorVisibility";
import { Button } from "../../ui/Button";
import { Code } from "../../ui/Code";
import { Callout } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { useDebounced } from "../../ui/useDebounced";
import { catalogue } from "../../base/words/catalogue";
import css from "./Binding.module.css";
import {
	type Binding,
	isBinding,
	groupsOf,
	isUnknown,
	issuesOf,
	type Item,
	objectAt,
	withMember,
	withoutUnknown,
} from "./binding";
import { useBindingOptions } from "./useBindingOptions";
import { Control } from "./Control";
import { usePicked } from "./picked";
import { Rows } from "./Rows";
import { Slot } from "./Slot";
import { mailFix, mailProblem } from "../../base/words/errors";

const words = catalogue("binding.bindingEditor", {
	issues: "{count, plural, one {# problem to fix} other {# problems to fix}}",
	first: "and {count, plural, one {# more} other {# more}}",
	unknown: "{count, plural, one {Remove the unknown value} other {Remove the # unknown values}}",
	all: "All values fit the template.",
	rest: "Other values",
	form: "Form",
	json: "JSON",
	view: "View",
	jsonLabel: "Values of the template, as JSON",
	badJson: "This is not valid JSON yet. The last valid values are kept.",
	notFormable: "These values cannot be shown as a form. Correct them here.",
	nothing: "This template has nothing to fill in.",
	checkFailed: "The values could not be checked",
	gone: "The template was deleted",
	goneText: "Emails made from it stay as they are. To change this one, choose another template or write your own code.",
});

type Props = {
	options: BindingOptions;
	value: unknown;
	onChange: (value: Binding) => void;
	issues: Issue[];
	/** The issues belong to the value on the screen. */
	checked?: boolean;
	readOnly?: boolean;
	/** The blocks that the server picked, by slot. */
	picked?: { [slot: string]: string | null };
};

/** At most so many issues are listed before the rest are counted. */
const listed = 20;

/** BindingEditor edits the values of a template, as a form or as JSON, with everything that is wrong with them. */
export function BindingEditor({ options, value, onChange, issues, checked = true, readOnly, picked }: Props) {
	const root = useRef<HTMLDivElement>(null);
	const hasForm = value === undefined || value === null || isBinding(value);
	const [asJson, setAsJson] = useState(false);
	const json = asJson || !hasForm;
	const binding: Binding = isBinding(value) ? value : {};
	const byPath = new Map<string, string>();
	for (const issue of issues)
		byPath.set(
			issue.path,
			[byPath.get(issue.path), mailProblem({ field: issue.path, message: issue.message })].filter(Boolean).join(" "),
		);
	const groups = groupsOf(options);
	const fields = groups.reduce((sum, group) => sum + group.items.length, 0);
	const focusProblem = (path: string) => {
		setAsJson(false);
		requestAnimationFrame(() => {
			// The field itself, or the nearest part around it that the form shows.
			for (let parent = path; parent !== ""; parent = parent.replace(/(\.[^.[\]]*|\[\d+\])$/, "")) {
				const el = root.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(parent)}"]`);
				if (el) {
					for (
						let element = el.closest("details");
						element;
						element = element.parentElement?.closest("details") ?? null
					)
						element.open = true;
					el.focus();
					el.scrollIntoView({ block: "center" });
					return;
				}
				if (!/[.[]/.test(parent)) return;
			}
		});
	};
	const unknown = issues.filter(isUnknown);
	const item = (item: Item) => {
		const path = `${item.kind}.${item.entry.name}`;
		const members = objectAt(binding, item.kind);
		const set = (value: unknown) =>
			onChange(withMember(binding, item.kind, withMember(members, item.entry.name, value)));
		const faults = (path: string) => byPath.get(path);
		if (item.kind === "parameters")
			return (
				<Control
					key={path}
					parameter={item.entry}
					path={path}
					value={members[item.entry.name]}
					error={byPath.get(path)}
					readOnly={readOnly}
					onChange={set}
				/>
			);
		if (item.kind === "sections")
			return (
				<Rows
					key={path}
					section={item.entry}
					path={path}
					members={members}
					faults={faults}
					readOnly={readOnly}
					onChange={set}
				/>
			);
		return (
			<Slot
				key={path}
				slot={item.entry}
				path={path}
				value={members[item.entry.name]}
				faults={faults}
				readOnly={readOnly}
				template={options.slug}
				picked={picked?.[item.entry.name]}
				onChange={set}
			/>
		);
	};
	return (
		<ImmediateErrors value={true}>
			<div ref={root} className={css.binding}>
				<div className={css.bar}>
					<p
						role="status"
						className={css.state}
						data-bad={issues.length > 0 || undefined}
						data-late={!checked || undefined}
					>
						{issues.length > 0 ? words.issues({ count: issues.length }) : checked ? words.all : "\u00a0"}
					</p>
					<fieldset className={css.views}>
						<legend className="visually-hidden">{words.view}</legend>
						<button type="button" aria-pressed={!json} onClick={() => setAsJson(false)}>
							{words.form}
						</button>
						<button type="button" aria-pressed={json} onClick={() => setAsJson(true)}>
							{words.json}
						</button>
					</fieldset>
				</div>
				{issues.length > 0 && (
					<div className={css.issues}>
						<ul>
							{issues.slice(0, listed).map((issue) => (
								<li key={`${issue.path} ${issue.code} ${issue.message}`}>
									<CircleX aria-hidden size={16} />
									<button type="button" onClick={() => focusProblem(issue.path)}>
										{json && <code>{issue.path || "{}"}</code>}{" "}
										{mailProblem({ field: issue.path, message: issue.message })}
										{issue.fix && <span className={css.fix}>{mailFix(issue.fix)}</span>}
									</button>
								</li>
							))}
						</ul>
						{issues.length > listed && <p className={css.hint}>{words.first({ count: issues.length - listed })}</p>}
						{unknown.length > 0 && !readOnly && hasForm && (
							<Button small onClick={() => onChange(withoutUnknown(binding, issues))}>
								{words.unknown({ count: unknown.length })}
							</Button>
						)}
					</div>
				)}
				{json ? (
					<Json
						value={value ?? {}}
						onChange={onChange}
						readOnly={readOnly}
						note={hasForm ? undefined : words.notFormable}
					/>
				) : fields === 0 ? (
					<p className={css.hint}>{words.nothing}</p>
				) : (
					groups.map((group) =>
						group.name === "" && groups.length === 1 ? (
							<div key="" className={css.items}>
								{group.items.map(item)}
							</div>
						) : (
							<details key={group.name} className={css.group} open={!group.collapsed}>
								<summary>{group.label ?? words.rest}</summary>
								{group.help && <p className={css.hint}>{group.help}</p>}
								<div className={css.items}>{group.items.map(item)}</div>
							</details>
						),
					)
				)}
			</div>
		</ImmediateErrors>
	);
}

function Json({
	value,
	onChange,
	readOnly,
	note,
}: {
	value: unknown;
	onChange: (value: Binding) => void;
	readOnly?: boolean;
	note?: string;
}) {
	const [text, setText] = useState(() => JSON.stringify(value, null, 2));
	const [isInvalid, setIsInvalid] = useState(false);
	return (
		<div className={css.json}>
			{note && <p className={css.bad}>{note}</p>}
			<Code
				label={words.jsonLabel}
				language="json"
				value={text}
				readOnly={readOnly}
				onChange={(value) => {
					setText(value);
					try {
						const parsed: unknown = JSON.parse(value);
						setIsInvalid(false);
						onChange(parsed as Binding);
					} catch {
						setIsInvalid(true);
					}
				}}
			/>
			{isInvalid && <p className={css.bad}>{words.badJson}</p>}
		</div>
	);
}

type TemplateBindingProps = {
	template: string;
	/** The broadcast or library entry that is filled: it decides which blocks are picked. */
	record?: string;
	value: unknown;
	onChange: (value: Binding) => void;
	readOnly?: boolean;
	/** The preview of the content, which checks the values too. */
	preview: { data?: PreviewAnswer; isPlaceholderData: boolean; error: Error | null };
};

/** TemplateBinding edits the values of a stored template, which the server checks while they are typed. */
export default function TemplateBinding({
	template,
	record,
	value,
	onChange,
	readOnly,
	preview,
}: TemplateBindingProps) {
	const options = useBindingOptions(template);
	const text = JSON.stringify(value ?? {});
	const checked = useDebounced(text, 350) === text && preview.data !== undefined && !preview.isPlaceholderData;
	const { error } = preview;
	const issues = issuesOf(preview.data?.problems ?? [], "content.template_binding.");
	const picked = usePicked(template, record, value, options.data?.slots_schema ?? []);
	if (options.error instanceof ApiError && options.error.status === 404) {
		return (
			<Callout tone="warning" title={words.gone}>
				{words.goneText}
			</Callout>
		);
	}
	if (options.isError) return <Failure error={options.error} retry={() => void options.refetch()} />;
	if (!options.data) return <Skeleton rows={6} height={32} />;
	return (
		<>
			{error && <Failure title={words.checkFailed} error={error} />}
			<BindingEditor
				key={template}
				options={options.data}
				value={value}
				onChange={onChange}
				issues={issues}
				checked={checked}
				readOnly={readOnly}
				picked={picked}
			/>
		</>
	);
}

import { ListFilter, SlidersHorizontal, X } from "lucide-react";
import { useState } from "react";
import { Button, LinkButton } from "../../ui/Button";
import { Combo } from "../../ui/Combo";
import { Select } from "../../ui/Field";
import { Popup } from "../../ui/Popup";
import { catalogue } from "../../base/words/catalogue";
import css from "./FilterBar.module.css";
import { type FieldInfo, initialValue, operatorName, operators, shapeOf } from "./fields";
import { fieldOptions } from "./fieldOptions";
import { type Filter, ruleOf, sentence } from "./filters";
import { ValueEditor } from "./ValueEditor";
import { meaning } from "./period";
import { to } from "../../base/paths";

const words = catalogue("rules.filterBar", {
	add: "Filter",
	edit: "Edit filter: {sentence}",
	remove: "Remove filter: {sentence}",
	field: "Field",
	operator: "Condition",
	apply: "Apply",
	new: "New filter",
	advanced: "Advanced",
	advancedHint: "Opens these filters in the segment builder",
	left: "Opens these filters in the segment builder. Search words are not included, because segments have none.",
});

type Props = {
	filters: Filter[];
	onChange: (filters: Filter[]) => void;
	fields: FieldInfo[];
	/** Words that are searched for beside the filters. */
	search?: string;
	/** Why no segment can be made. */
	disabledReason?: string;
};

/** FilterBar shows filters as sentences, which are edited in place. All of them must match. */
export function FilterBar({ filters, onChange, fields, search, disabledReason }: Props) {
	return (
		<div className={css.bar}>
			{filters.map((filter, i) => {
				const dates = meaning(filter.operator, filter.value);
				const text = sentence(filter, fields) + (dates && ` (${dates})`);
				return (
					<span key={`${i} ${text}`} className={css.chip}>
						<Editor
							label={words.edit({ sentence: text })}
							filter={filter}
							fields={fields}
							onApply={(next) => onChange(filters.map((old, index) => (index === i ? next : old)))}
						>
							{text}
						</Editor>
						<button
							type="button"
							className={css.remove}
							aria-label={words.remove({ sentence: text })}
							onClick={() => onChange(filters.filter((_, index) => index !== i))}
						>
							<X aria-hidden size={14} />
						</button>
					</span>
				);
			})}
			<Editor label={words.new} fields={fields} onApply={(filter) => onChange([...filters, filter])} />
			{filters.length > 0 && (
				<LinkButton
					small
					variant="quiet"
					icon={<SlidersHorizontal aria-hidden />}
					disabledReason={disabledReason}
					hint={search ? words.left : words.advancedHint}
					to={to.newSegment({ rule: JSON.stringify(ruleOf(filters)), ...(search ? { left: search } : {}) })}
				>
					{words.advanced}
				</LinkButton>
			)}
		</div>
	);
}

function Editor({
	label,
	filter,
	fields,
	onApply,
	children,
}: {
	label: string;
	filter?: Filter;
	fields: FieldInfo[];
	onApply: (filter: Filter) => void;
	children?: string;
}) {
	return (
		<Popup
			label={label}
			buttonLabel={children ? label : undefined}
			className={children ? css.edit : undefined}
			button={
				children ?? (
					<>
						<ListFilter aria-hidden />
						<span>{words.add}</span>
					</>
				)
			}
		>
			{(close) => (
				<Form
					filter={filter}
					fields={fields}
					onApply={(filter) => {
						onApply(filter);
						close();
					}}
				/>
			)}
		</Popup>
	);
}

function Form({
	filter,
	fields,
	onApply,
}: {
	filter?: Filter;
	fields: FieldInfo[];
	onApply: (filter: Filter) => void;
}) {
	const [draft, setDraft] = useState<Filter>(filter ?? {});
	const field = fields.find((field) => field.field === draft.field);
	return (
		<form
			className={css.form}
			onSubmit={(event) => {
				event.preventDefault();
				event.stopPropagation();
				if (field && draft.operator) onApply(draft);
			}}
		>
			<Combo
				label={words.field}
				options={fieldOptions(fields)}
				value={draft.field ?? null}
				onChange={(id) => {
					const next = fields.find((field) => field.field === id);
					const operator = next && operators[next.kind][0];
					setDraft(next && operator ? { field: next.field, operator, value: initialValue(operator, next.kind) } : {});
				}}
			/>
			{field && (
				<Select
					label={words.operator}
					value={draft.operator ?? ""}
					onChange={(operator) =>
						setDraft({
							...draft,
							operator,
							value:
								shapeOf(operator) === shapeOf(draft.operator ?? "") ? draft.value : initialValue(operator, field.kind),
						})
					}
					choices={operators[field.kind].map((operator) => ({ value: operator, label: operatorName(operator) }))}
				/>
			)}
			{field && draft.operator && (
				<ValueEditor
					field={field}
					operator={draft.operator}
					value={draft.value}
					onChange={(value) => setDraft({ ...draft, value })}
				/>
			)}
			<Button type="submit" variant="primary">
				{words.apply}
			</Button>
		</form>
	);
}

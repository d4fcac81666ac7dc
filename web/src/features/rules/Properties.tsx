import { Plus, X } from "lucide-react";
import { useState } from "react";
import { catalogue } from "../../base/words/catalogue";
import { tidy } from "../../base/words/fill";
import { Button, IconButton } from "../../ui/Button";
import css from "./Builder.module.css";
import type { PropertyFilter } from "./propertyFilters";
import { propertyControl } from "./PropertyFields";
import { onProperty } from "./sentences";
import { Sentence } from "./Sentence";

const words = catalogue("rules.propertyList", {
	add: "Add property condition",
	remove: "Remove condition on {property}",
	removeEmpty: "Remove property condition",
});

type Props = {
	eventName?: string;
	filters: PropertyFilter[];
	onChange: (filters: PropertyFilter[]) => void;
	errorOf: (index: number) => string | undefined;
};

/** Properties edits conditions on properties of an event, which must all hold. */
export function Properties({ eventName, filters, onChange, errorOf }: Props) {
	const [added, setAdded] = useState<number | null>(null);
	const replaceFilter = (i: number, filter: PropertyFilter) =>
		onChange(filters.map((old, j) => (j === i ? filter : old)));
	return (
		<>
			{filters.map((filter, i) => {
				const error = errorOf(i);
				return (
					<div key={i} className={css.leaf}>
						<Sentence
							pieces={tidy(onProperty("", filter))}
							isNew={i === added}
							problems={error ? [{ path: filter.property ? "value" : "property", message: error }] : []}
							control={(part) =>
								propertyControl(part, { eventName, filter, onChange: (next) => replaceFilter(i, next) })
							}
						/>
						<IconButton
							small
							label={filter.property ? words.remove({ property: filter.property }) : words.removeEmpty}
							icon={<X aria-hidden />}
							onClick={() => onChange(filters.filter((_, j) => j !== i))}
						/>
					</div>
				);
			})}
			<div>
				<Button
					small
					variant="quiet"
					icon={<Plus aria-hidden />}
					onClick={() => {
						setAdded(filters.length);
						onChange([...filters, { property: "", operator: "equals", value: "" }]);
					}}
				>
					{words.add}
				</Button>
			</div>
		</>
	);
}

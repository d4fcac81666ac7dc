import { ArrowDown, ArrowUp } from "lucide-react";
import { type ReactNode, useState, useSyncExternalStore } from "react";
import { density, setDensity, subscribeDensity } from "../../base/density";
import type { FieldInfo } from "../rules/fields";
import { IconButton } from "../../ui/Button";
import { useSorting } from "../../ui/drag";
import { Checkbox, Switch, TextField } from "../../ui/Field";
import { Grip } from "../../ui/Grip";
import { Popup } from "../../ui/Popup";
import { catalogue } from "../../base/words/catalogue";
import css from "./Contacts.module.css";

const words = catalogue("contacts.columnChooser", {
	title: "Table columns",
	search: "Search fields",
	shown: "Shown",
	others: "Others",
	compact: "Compact rows",
	up: "Move {name} up",
	down: "Move {name} down",
});

/** ColumnChooser chooses the columns of a table, and their order. */
export function ColumnChooser({
	all,
	selected,
	onChange,
	icon,
	children,
}: {
	all: FieldInfo[];
	selected: string[];
	onChange: (selected: string[]) => void;
	icon: ReactNode;
	children: ReactNode;
}) {
	const [search, setSearch] = useState("");
	const rows = useSyncExternalStore(subscribeDensity, density);
	const match = (field: FieldInfo) => field.name.toLowerCase().includes(search.toLowerCase());
	const shown = selected
		.map((column) => all.find((field) => field.field === column))
		.filter((field): field is FieldInfo => Boolean(field));
	const others = all.filter((field) => !selected.includes(field.field) && field.field !== "email" && match(field));
	const move = (index: number, offset: number) => {
		const next = [...selected];
		const [field] = next.splice(index, 1);
		if (field) next.splice(index + offset, 0, field);
		onChange(next);
	};
	const sorting = useSorting((from, to) => move(from, to - from));
	return (
		<Popup
			label={words.title}
			end
			button={
				<>
					{icon}
					<span>{children}</span>
				</>
			}
		>
			{() => (
				<div className={css.chooser}>
					<TextField label={words.search} value={search} onChange={setSearch} />
					<Switch
						label={words.compact}
						checked={rows === "compact"}
						onChange={(checked) => setDensity(checked ? "compact" : "comfortable")}
					/>
					<h3>{words.shown}</h3>
					<ul>
						{shown.map((field, i) => (
							<li key={field.field} {...sorting.item(i)}>
								<Grip {...sorting.handle(i)} />
								<Checkbox
									label={field.name}
									checked
									onChange={() => onChange(selected.filter((column) => column !== field.field))}
								/>
								<span>
									{i > 0 && (
										<IconButton
											small
											label={words.up({ name: field.name })}
											icon={<ArrowUp aria-hidden />}
											onClick={() => move(i, -1)}
										/>
									)}
									{i < shown.length - 1 && (
										<IconButton
											small
											label={words.down({ name: field.name })}
											icon={<ArrowDown aria-hidden />}
											onClick={() => move(i, 1)}
										/>
									)}
								</span>
							</li>
						))}
					</ul>
					<h3>{words.others}</h3>
					<ul>
						{others.map((field) => (
							<li key={field.field}>
								<Checkbox label={field.name} checked={false} onChange={() => onChange([...selected, field.field])} />
							</li>
						))}
					</ul>
				</div>
			)}
		</Popup>
	);
}

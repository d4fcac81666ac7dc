import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { fieldAt, useFields } from "../rules/useFields";
import { catalogue } from "../../base/words/catalogue";
import css from "./Source.module.css";
import { lackingQuery } from "../contacts/queries";
import { to } from "../../base/paths";

const words = catalogue("source.missing", {
	title: "Data missing from this email",
	lack: "{count, number} of {of, number} contacts lack {path}",
	all: "Every contact has {path}",
	none: "{path} is not a contact field",
	open: "Show contacts",
	more: "and {count} more",
});

/** At most so many paths are counted. */
const counted = 10;

/** Missing lists data that the mail names and the previewed person lacks, with how many contacts lack it. */
export function Missing({ paths }: { paths: string[] }) {
	const fields = useFields();
	const list = paths.slice(0, counted).map((path) => {
		const field = fieldAt(fields, path);
		return { path, name: field?.name ?? path, field: field?.field };
	});
	const known = [...new Set(list.flatMap((missing) => (missing.field === undefined ? [] : [missing.field])))];
	const count = useQuery(lackingQuery(known));
	if (paths.length === 0) return null;
	const total = count.data?.count;
	return (
		<section className={css.missing}>
			<h3>{words.title}</h3>
			<ul>
				{list.map((missing) => {
					const lack = count.data?.lacking?.find((lack) => lack.field === missing.field)?.count;
					return (
						<li key={missing.path}>
							{missing.field === undefined
								? words.none({ path: missing.path })
								: total === undefined || lack === undefined
									? missing.name
									: lack === 0
										? words.all({ path: missing.name })
										: words.lack({ count: lack, of: total, path: missing.name })}
							{missing.field !== undefined && lack !== undefined && lack > 0 && (
								<Link
									href={to.contacts({ filters: JSON.stringify([{ field: missing.field, operator: "is_not_set" }]) })}
								>
									{words.open}
								</Link>
							)}
						</li>
					);
				})}
			</ul>
			{paths.length > counted && <p className={css.hint}>{words.more({ count: paths.length - counted })}</p>}
		</section>
	);
}

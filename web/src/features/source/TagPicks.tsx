import { useState } from "react";
import { Picks } from "../../ui/Combo";
import { catalogue } from "../../base/words/catalogue";

const words = catalogue("source.tagPicks", { addTag: "Add a tag" });

/** TagPicks chooses labels, of those that exist or new ones. */
export function TagPicks({
	label,
	help,
	options,
	values,
	onChange,
	readOnly,
}: {
	label: string;
	help?: string;
	options: { id: string; label: string }[];
	values: string[];
	onChange: (values: string[]) => void;
	readOnly?: boolean;
}) {
	const [text, setText] = useState("");
	const newTag = text.trim();
	return (
		<Picks
			label={label}
			help={readOnly ? undefined : help}
			options={[
				...options.filter((option) => option.label.toLowerCase().includes(newTag.toLowerCase())),
				...(newTag && !options.some((option) => option.id === newTag)
					? [{ id: newTag, label: `${words.addTag}: ${newTag}` }]
					: []),
			]}
			nameOf={(id) => options.find((option) => option.id === id)?.label ?? id}
			values={values}
			onSearch={setText}
			onChange={(value) => !readOnly && onChange(value)}
		/>
	);
}

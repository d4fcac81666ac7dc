import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Action } from "../../ui/Menu";
import { useBindingOptions } from "../binding/useBindingOptions";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import type { Place } from "../../ui/focusField";
import { toast } from "../../ui/Toast";
import { fillingAt, fillingsOf, lineAt, partsOf, pathOf } from "./mailParts";
import { partLabel } from "./partLabels";
import { templateQuery } from "../templates/queries";

const words = catalogue("source.useMailParts", {
	fixed: "This part is the same in all emails from the template “{name}”. It has no field here.",
});

type MailParts = {
	/** The values of the template, or the elements of the code. */
	parts: Action[];
	/** Reveals what makes the element with a mark, and which of those with this mark it is. */
	onMark: (mark: number, row: number) => void;
};

type Options = {
	/** The code of the mail, if somebody writes it; else it is made from a template. */
	code: string | null;
	template: string | null;
	onCode: (place: Place) => void;
	/** Called with the path of a value of the template. */
	onFilling: (path: string) => void;
};

/** useMailParts returns what of a mail can be edited. */
export function useMailParts({ code, template, onCode, onFilling }: Options): MailParts {
	const client = useQueryClient();
	const options = useBindingOptions(code === null ? template : null).data;
	const codeParts = useMemo(() => partsOf(code ?? ""), [code]);
	if (code !== null) {
		const reveal = (position: number) => onCode({ at: lineAt(code, position), position });
		return {
			parts: codeParts.map((part) => ({ id: String(part.at), label: partLabel(part), run: () => reveal(part.at) })),
			onMark: reveal,
		};
	}
	return {
		parts: fillingsOf(options).map(({ filling, label }) => ({
			id: pathOf(filling, 0),
			label,
			run: () => onFilling(pathOf(filling, 0)),
		})),
		onMark: async (mark, row) => {
			if (!template) return;
			try {
				const { data } = await client.fetchQuery({ ...templateQuery(template), staleTime: 60_000 });
				const source = (data.format === "mjml" ? data.content_mjml : data.content_html) ?? "";
				const filling = fillingAt(
					source,
					mark,
					data.parameters_schema.map(({ name }) => name),
				);
				if (filling) onFilling(pathOf(filling, row));
				else toast(words.fixed({ name: data.name }));
			} catch (error) {
				toast(explain(error), { tone: "danger" });
			}
		},
	};
}

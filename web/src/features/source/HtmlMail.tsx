import { ListTree } from "lucide-react";
import { useMemo } from "react";
import type { PreviewAnswer } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { MailFrame } from "../../ui/MailFrame";
import { Menu } from "../../ui/Menu";
import { lineAt, withoutMarks } from "./mailParts";
import { htmlOf, type ValidPreview } from "./preview";
import { type HtmlCode, useHtmlPicture } from "./useHtmlPicture";

const words = catalogue("source.htmlMail", { parts: "Go to part" });

type Props = {
	mail: PreviewAnswer;
	/** The preview that the mail is, or the HTML that it was made of, if it could be made. */
	made: ValidPreview | string | null;
	code: HtmlCode;
	readOnly?: boolean;
	/** It fills the height that it is given. */
	fill?: boolean;
	/** Opens the code at a line, and at a position in it. */
	onCode: (line: number, position: number) => void;
};

/** HtmlMail shows a mail that is made of HTML. What is pressed in it is edited, in the mail or in the code. */
export default function HtmlMail({ mail, made, code, readOnly, fill, onCode }: Props) {
	const { html, text } = mail;
	const { parts, reports, overlay } = useHtmlPicture({
		code: readOnly ? null : code,
		made: made === null || typeof made === "string" ? made : htmlOf(made.request),
		onMark: (position) => onCode(lineAt(code.text, position), position),
	});
	const source = useMemo(() => html && withoutMarks(html), [html]);
	return (
		<>
			{!readOnly && (
				// Its place is kept while the parts are found.
				<div style={{ minBlockSize: "var(--target)" }}>
					{parts && parts.length > 0 && (
						<Menu small start actions={parts}>
							<ListTree aria-hidden /> {words.parts}
						</Menu>
					)}
				</div>
			)}
			<MailFrame fill={fill} html={html} text={text} size={false} source={source} reports={reports} overlay={overlay} />
		</>
	);
}

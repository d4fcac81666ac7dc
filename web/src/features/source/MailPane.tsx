import { ListTree } from "lucide-react";
import { type ReactNode, Suspense, useEffect, useMemo, useState } from "react";
import type { PreviewAnswer } from "../../api/schema";
import { lazyComponent } from "../../base/lazy";
import { catalogue } from "../../base/words/catalogue";
import { clockWithSeconds } from "../../base/words/formats";
import { MailFrame } from "../../ui/MailFrame";
import { type Action, Menu } from "../../ui/Menu";
import { Failure, Skeleton } from "../../ui/States";
import type { MarkRect } from "../../ui/frame/reports";
import { MailChecks } from "./MailChecks";
import type { Found } from "./checks";
import { rowAt, withoutMarks } from "./mailParts";
import css from "./MailPane.module.css";
import type { HtmlCode } from "./useHtmlPicture";

const HtmlMail = lazyComponent(() => import("./HtmlMail"));

const words = catalogue("source.mailPane", {
	title: "Preview",
	from: "From:",
	subject: "Subject:",
	preheader: "Preview text:",
	noFrom: "No sender yet",
	noSubject: "No subject yet",
	noPreheader: "No preview text: inboxes show the beginning of the email",
	stale: "This is the email as of {at}. It has errors since then.",
	parts: "Go to part",
});

export type HeadField = "from" | "subject" | "preheader";

type Props = {
	preview: {
		data?: PreviewAnswer;
		error: Error | null;
		isLoading: boolean;
		isPlaceholderData: boolean;
		/** Which mail it is of, where others can be chosen: the last valid one of another is not shown for it. */
		of?: string;
		/** The HTML that it is asked for, if somebody writes it. */
		html?: string | null;
		refetch: () => unknown;
	};
	/** What is shown above the mail until the server has answered. */
	head: { [field in HeadField]?: string | null };
	/** Whose mail is shown, and which. */
	tools?: ReactNode;
	/** What is to be said about the mail, above it. */
	children?: ReactNode;
	/** The parts of the mail, to be edited; a press in the mail does the same. */
	parts: Action[];
	onHead: (field: HeadField) => void;
	/** Gets the element in which a design shows the mail, while one does. */
	stage?: (element: HTMLElement | null) => void;
	/** Opens the place of what is to be mended. */
	onGo: (found: Found) => void;
	/** Whether the mail is shown with the data of a contact. */
	isForContact?: boolean;
	/** Called with the mark of an element that was pressed, and which of those with this mark it is. */
	onMark?: (mark: number, row: number) => void;
	/** The HTML of the mail, if it can be changed: what is pressed is edited in the mail then. */
	html?: HtmlCode | null;
};

/** MailPane shows a mail as an inbox and its reader do. What is pressed in it is edited. */
export function MailPane(props: Props) {
	const {
		preview,
		head,
		tools,
		children,
		parts,
		stage,
		onHead,
		onGo,
		isForContact = false,
		onMark,
		html: code,
	} = props;
	const { data, isPlaceholderData, of, html = null } = preview;
	const [last, setLast] = useState<{ answer: PreviewAnswer; at: Date; of?: string; html: string | null } | null>(null);
	useEffect(() => {
		if (data && !isPlaceholderData && data.html !== null) setLast({ answer: data, at: new Date(), of, html });
	}, [data, isPlaceholderData, of, html]);
	const lastValid = last?.of === of ? last : null;
	const shown = data?.html === null ? (lastValid?.answer ?? data) : data;
	const source = useMemo(() => (shown?.html ? withoutMarks(shown.html) : null), [shown?.html]);
	const made = shown && shown === last?.answer ? last.html : isPlaceholderData ? null : html;
	const [rects, setRects] = useState<MarkRect[]>([]);
	const [pointed, setPointed] = useState(-1);
	const stale = data?.html === null && lastValid !== null;
	const from = data?.from ?? head.from ?? "";
	return (
		<section className={css.pane} aria-label={words.title} id="preview">
			<div className={css.head}>
				<span className={css.face} aria-hidden>
					{[...from.trim()][0]?.toUpperCase() ?? "·"}
				</span>
				<div className={css.lines}>
					<Line name={words.from} text={from} empty={words.noFrom} onPress={() => onHead("from")} />
					<Line
						strong
						name={words.subject}
						text={data?.subject || head.subject}
						empty={words.noSubject}
						onPress={() => onHead("subject")}
					/>
					<Line
						name={words.preheader}
						text={data?.preheader || head.preheader}
						empty={words.noPreheader}
						onPress={() => onHead("preheader")}
					/>
				</div>
				{parts.length > 0 && !stage && !code && (
					<Menu small actions={parts}>
						<ListTree aria-hidden /> {words.parts}
					</Menu>
				)}
			</div>
			{tools && <div className={css.tools}>{tools}</div>}
			<MailChecks answer={data} isForContact={isForContact} onGo={onGo} />
			{preview.error && <Failure error={preview.error} retry={() => void preview.refetch()} />}
			{stale && lastValid && <p className={css.stale}>{words.stale({ at: clockWithSeconds(lastValid.at) })}</p>}
			{children && <div className={css.notes}>{children}</div>}
			{preview.isLoading && !stage && <Skeleton rows={8} />}
			{stage && <div ref={stage} className={css.stage} />}
			{shown && !stage && code && (
				<Suspense fallback={<Skeleton rows={8} />}>
					<HtmlMail fill mail={shown} made={made} code={code} onCode={(_, position) => onMark?.(position, 0)} />
				</Suspense>
			)}
			{shown && !stage && !code && (
				<MailFrame
					fill
					html={shown.html}
					text={shown.text}
					size={false}
					source={source}
					reports={
						onMark && {
							onMarks: setRects,
							onPoint: setPointed,
							onPress: ({ mark, x, y, double }) => {
								if (mark >= 0 && !double) onMark(mark, rowAt(rects, mark, x, y));
							},
						}
					}
					overlay={rects
						.filter(({ mark }) => mark === pointed)
						.map((rect) => (
							<span
								key={`${rect.x} ${rect.y}`}
								className={css.pointed}
								style={{
									insetInlineStart: rect.x,
									insetBlockStart: rect.y,
									inlineSize: rect.width,
									blockSize: rect.height,
								}}
							/>
						))}
				/>
			)}
		</section>
	);
}

function Line({
	name,
	text,
	empty,
	strong,
	onPress,
}: {
	name: string;
	text: string | null | undefined;
	empty: string;
	strong?: boolean;
	onPress: () => void;
}) {
	return (
		<button
			type="button"
			className={css.line}
			data-strong={strong || undefined}
			data-empty={!text || undefined}
			onClick={onPress}
		>
			<span className="visually-hidden">{name} </span>
			{text || empty}
		</button>
	);
}

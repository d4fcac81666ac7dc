import { Suspense, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Module } from "../../base/lazy";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { asOwn, flushEditors } from "../../sync/pendingSaves";
import { Button } from "../../ui/Button";
import type { CodeControl } from "../../ui/Code";
import type { Place } from "../../ui/focusField";
import { useFixed } from "../../ui/Locked";
import { Callout } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { toast } from "../../ui/Toast";
import { useNarrow } from "../../ui/useNarrow";
import { Views } from "../../ui/Views";
import { CodeWithImages } from "../assets/CodeWithImages";
import css from "./MjmlEditor.module.css";
import type { MjmlProps } from "./MjmlField";
import { useMjmlView } from "./useMjmlView";

const design = new Module(() => import("../design/Design"));

const Designed = design.component(({ default: Design }) => Design);

const words = catalogue("source.mjmlEditor", {
	views: { design: "Design", code: "Code" },
	empty: "The email is empty.",
	begin: "Start with your brand",
});

/** The places that a field has gone to: it may be shown again with the same. */
const visited = new WeakSet<Place>();

/** MjmlEditor edits MJML as a design or as code. The code stays while the text is designed: its history is that of both. */
export default function MjmlEditor({
	fragment,
	declared,
	begin,
	place,
	picture,
	notice,
	stage,
	tools,
	...code
}: MjmlProps) {
	const { view, show, choose } = useMjmlView();
	const readOnly = useFixed() || (code.readOnly ?? false);
	const isNarrow = useNarrow();
	const control = useRef<CodeControl>(null);
	const [line, setLine] = useState<{ at: number } | null>(null);
	const [element, setElement] = useState<{ at: number } | null>(null);
	const isDesigned = view === "design";
	const isEmpty = isDesigned && !fragment && code.value.trim() === "";
	const [beginning, setBeginning] = useState(false);
	const shown = useRef<typeof code | null>(code);
	shown.current = code;
	useEffect(
		() => () => {
			shown.current = null;
		},
		[],
	);
	const start = async (begin: () => Promise<string>) => {
		setBeginning(true);
		try {
			const text = await begin();
			flushSync(flushEditors);
			// Somebody may have written it meanwhile, or left it.
			const field = shown.current;
			if (field?.value.trim() === "") asOwn(() => field.onChange(text));
		} catch (error) {
			toast(explain(error), { tone: "danger" });
		}
		setBeginning(false);
	};
	const toCode = (at: number) => {
		if (isDesigned) show("code");
		setLine({ at });
	};
	useEffect(() => {
		if (!isDesigned) setElement(null); // a design that is shown again does not go there again
	}, [isDesigned]);
	// biome-ignore lint/correctness/useExhaustiveDependencies: a place is gone to once
	useEffect(() => {
		if (!place || visited.has(place)) return;
		visited.add(place);
		if (isDesigned && place.position !== undefined) setElement({ at: place.position });
		else toCode(place.at);
	}, [place]);
	return (
		<div className={css.field}>
			<Views views={words.views} current={view} onChange={choose} />
			<div hidden={isDesigned}>
				<CodeWithImages {...code} format="mjml" line={line} control={control} />
			</div>
			{isEmpty && (
				<Callout title={words.empty}>
					{begin && !readOnly && (
						<Button small busy={beginning} onClick={() => void start(begin)}>
							{words.begin}
						</Button>
					)}
				</Callout>
			)}
			{isDesigned && !isEmpty && (
				<Suspense fallback={<Skeleton rows={20} />}>
					<Designed
						text={code.value}
						fragment={fragment ?? false}
						declared={declared ?? undefined}
						readOnly={readOnly}
						control={control}
						onChange={code.onChange}
						picture={picture}
						notice={notice}
						stage={isNarrow ? null : stage}
						element={element}
						onCode={toCode}
						tools={tools}
					/>
				</Suspense>
			)}
		</div>
	);
}

import { type ReactNode, type RefObject, Suspense, useEffect, useRef, useState } from "react";
import { Module } from "../../base/lazy";
import { catalogue } from "../../base/words/catalogue";
import { Button } from "../../ui/Button";
import type { CodeControl } from "../../ui/Code";
import type { Place } from "../../ui/focusField";
import { useFixed } from "../../ui/Locked";
import { Callout } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { useNarrow } from "../../ui/useNarrow";
import { Views } from "../../ui/Views";
import { CodeWithImages } from "../assets/CodeWithImages";
import css from "./MjmlEditor.module.css";
import type { Declared } from "../design/usePaletteParts";
import type { MjmlProps, Shown } from "./MjmlField";
import { useMjmlView } from "./useMjmlView";

const design = new Module(() => import("../design/Design"));

const Design = design.component(({ default: Design }) => Design);

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
	const toCode = (at: number) => {
		if (isDesigned) show("code");
		setLine({ at });
	};
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
						<Button small onClick={() => void begin().then(code.onChange)}>
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

type DesignedProps = Shown & {
	text: string;
	fragment: boolean;
	declared: Declared | undefined;
	readOnly: boolean;
	control: RefObject<CodeControl | null>;
	onChange: (text: string) => void;
	element: { at: number } | null;
	onCode: (line: number) => void;
	tools: ReactNode;
};

/** Designed is a design. Where to go was asked of it only since it is there. */
function Designed({ element, ...props }: DesignedProps) {
	const before = useRef(element);
	return <Design {...props} element={element === before.current ? null : element} />;
}

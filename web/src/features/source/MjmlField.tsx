import { type ReactNode, Suspense } from "react";
import { lazyComponent } from "../../base/lazy";
import type { CodeProps } from "../../ui/Code";
import type { Place } from "../../ui/focusField";
import { Skeleton } from "../../ui/States";
import type { Picture } from "../design/picture";
import type { Declared } from "../design/usePaletteParts";

const MjmlEditor = lazyComponent(() => import("./MjmlEditor"));

/** Shown is where the mail that a field makes is shown. */
export type Shown = {
	/** The last mail that could be made of the text. */
	picture: Picture | null;
	/** Says why the picture is not that of the text. */
	notice?: ReactNode;
	/** Where its design shows the picture: null for nowhere; if there is none, the design shows it by itself. */
	stage?: HTMLElement | null;
};

export type MjmlProps = Shown &
	Pick<CodeProps, "label" | "value" | "onChange" | "names" | "problems" | "readOnly"> & {
		fragment?: boolean;
		/** The sections and the slots that it may have. */
		declared?: Declared | null;
		/** Returns what an empty text is begun with. */
		begin?: () => Promise<string>;
		/** Where to go: to the element at a position in the design, or to a line of the code. A new object goes there again. */
		place?: Place | null;
		/** Beside the tools of the design. */
		tools?: ReactNode;
	};

/** MjmlField is a field for MJML, which is written as a design or as code. */
export function MjmlField(props: MjmlProps) {
	return (
		<Suspense fallback={<Skeleton rows={20} />}>
			<MjmlEditor {...props} />
		</Suspense>
	);
}

import { ClipboardPaste, CornerDownRight, OctagonX } from "lucide-react";
import {
	type KeyboardEvent,
	type ReactNode,
	type RefObject,
	Suspense,
	useEffect,
	useId,
	useRef,
	useState,
} from "react";
import { lazyComponent } from "../../base/lazy";
import { catalogue } from "../../base/words/catalogue";
import { type Clip, type Graph, order, type Place, stepOf, targetOf } from "./graph";
import { iconOf } from "./stepIcons";
import { type Kind, kinds, type MenuGroup, type Names, nameOfKind, stepWords, titleOf } from "./steps";
import css from "./StepMenu.module.css";

const PopupPanel = lazyComponent(() =>
	import("../../ui/aria/PopupPanel").then((module) => ({ default: module.PopupPanel })),
);

const words = catalogue("sequences.stepMenu", {
	title: "Add step",
	search: "Search steps",
	none: "Nothing matches.",
	paste: "{count, plural, one {Paste # step} other {Paste # steps}}",
	pasteHelp: "Inserts the copied steps here",
	end: "End the path here",
	endHelp: "The steps after this are removed, unless another path leads to them",
	go: "Continue at",
	goHelp: "Joins this path to another step",
});

type Option = { id: string; name: string; help: string; icon: ReactNode; group: string; run: () => void };

type Props = {
	graph: Graph;
	place: Place;
	names: Names;
	clipboardContent: Clip | null;
	trigger: RefObject<HTMLElement | null>;
	onAdd: (kind: Kind) => void;
	onPaste: () => void;
	onEnd: () => void;
	onGo: (step: string) => void;
	onClose: () => void;
};

const groups: MenuGroup[] = ["send", "wait", "decide", "contact", "outside", "end"];

/** StepMenu offers what can be put at a place. Typing narrows it. */
export function StepMenu(props: Props) {
	return (
		<Suspense fallback={null}>
			<PopupPanel label={words.title} trigger={props.trigger} onClose={props.onClose}>
				<Choices {...props} />
			</PopupPanel>
		</Suspense>
	);
}

function Choices({ graph, place, names, clipboardContent, onAdd, onPaste, onEnd, onGo }: Props) {
	const [search, setSearch] = useState("");
	const [activeIndex, setActiveIndex] = useState(0);
	const id = useId();
	const list = useRef<HTMLDivElement>(null);
	const target = targetOf(graph, place);
	const all: Option[] = [];
	if (clipboardContent)
		all.push({
			id: "paste",
			name: words.paste({ count: clipboardContent.steps.length }),
			help: words.pasteHelp,
			icon: <ClipboardPaste aria-hidden />,
			group: "",
			run: onPaste,
		});
	for (const group of groups)
		for (const kind of kinds.filter((kind) => kind.group === group)) {
			const Icon = iconOf(kind);
			all.push({
				id: kind.id,
				...nameOfKind(kind.id),
				icon: <Icon aria-hidden />,
				group: stepWords.groups[group],
				run: () => onAdd(kind),
			});
		}
	if (target && place.from !== null)
		all.push({
			id: "end",
			name: words.end,
			help: words.endHelp,
			icon: <OctagonX aria-hidden />,
			group: stepWords.groups.end,
			run: onEnd,
		});
	for (const step of order(graph)) {
		const s = stepOf(graph, step);
		if (s && step !== target)
			all.push({
				id: `go ${step}`,
				name: titleOf(s, names, graph),
				help: words.goHelp,
				icon: <CornerDownRight aria-hidden />,
				group: words.go,
				run: () => onGo(step),
			});
	}
	const expected = search.trim().toLowerCase();
	const shown = all.filter(
		(option) => !expected || `${option.name} ${option.help} ${option.group}`.toLowerCase().includes(expected),
	);
	const active = Math.min(activeIndex, shown.length - 1);
	useEffect(() => {
		list.current?.querySelector(`[data-at="${active}"]`)?.scrollIntoView({ block: "nearest" });
	}, [active]);
	const key = (event: KeyboardEvent) => {
		if (event.key === "ArrowDown") setActiveIndex((active + 1) % Math.max(1, shown.length));
		else if (event.key === "ArrowUp") setActiveIndex((active - 1 + shown.length) % Math.max(1, shown.length));
		else if (event.key === "Home") setActiveIndex(0);
		else if (event.key === "End") setActiveIndex(shown.length - 1);
		else if (event.key === "Enter") shown[active]?.run();
		else return;
		event.preventDefault();
	};
	const sections = [...new Set(shown.map((option) => option.group))];
	return (
		<div className={css.menu}>
			<input
				// biome-ignore lint/a11y/noAutofocus: the panel was opened to choose
				autoFocus
				className={css.search}
				role="combobox"
				aria-label={words.search}
				aria-expanded="true"
				aria-controls={id}
				aria-activedescendant={shown.length > 0 ? `${id}-${active}` : undefined}
				aria-autocomplete="list"
				placeholder={words.search}
				autoComplete="off"
				spellCheck={false}
				value={search}
				onChange={(event) => {
					setSearch(event.target.value);
					setActiveIndex(0);
				}}
				onKeyDown={key}
			/>
			<div ref={list} id={id} role="listbox" aria-label={words.title} className={css.list}>
				{shown.length === 0 && <p className={css.none}>{words.none}</p>}
				{sections.map((group) => (
					// biome-ignore lint/a11y/useSemanticElements: options stand in groups of a list box
					<div key={group} role="group" aria-label={group || words.title}>
						{group && (
							<p className={css.group} aria-hidden>
								{group}
							</p>
						)}
						{shown.map((option, i) =>
							option.group === group ? (
								// biome-ignore lint/a11y/useKeyWithClickEvents: the field handles keys
								// biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
								<div
									key={option.id}
									id={`${id}-${i}`}
									data-at={i}
									data-kind={option.id}
									role="option"
									aria-selected={i === active}
									className={css.option}
									onPointerMove={() => setActiveIndex(i)}
									onClick={option.run}
								>
									{option.icon}
									<span>
										{option.name}
										<small>{option.help}</small>
									</span>
								</div>
							) : null,
						)}
					</div>
				))}
			</div>
		</div>
	);
}

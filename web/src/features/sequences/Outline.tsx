import { CornerDownRight, Flag, RotateCcw } from "lucide-react";
import { catalogue } from "../../base/words/catalogue";
import css from "./Flow.module.css";
import type { View } from "./flowView";
import { type Block, outline, type Slot, stepOf } from "./graph";
import { AddButton, Numbers, StartButton, StepButton, StepMenuButton, Taken } from "./Parts";
import { labelOf, titleOf } from "./steps";

const words = catalogue("sequences.outline", {
	label: "Steps",
	goals: "Goals, from anywhere",
	apart: "Not reachable",
	end: "The path ends",
	join: "Continues at step {number}: {title}",
	loop: "Back to step {number}: {title}",
	way: "Path: {label}",
	after: "Then",
});

/** OutlineView shows a graph as a list: each step, and below a step with several edges a list for each. */
export function OutlineView({ view, canPaste }: { view: View; canPaste: boolean }) {
	const { roots } = outline(view.graph);
	const main = roots.filter((root) => root.step.id === view.graph.entry);
	const goals = roots.filter((root) => root.step.id !== view.graph.entry && root.step.type === "goal");
	const others = roots.filter((root) => !main.includes(root) && !goals.includes(root));
	return (
		<div className={css.outline}>
			<StartButton view={view} />
			<AddButton view={view} place={{ from: null, label: null }} />
			<Taken view={view} place={{ from: null, label: null }} />
			{main.map((block) => (
				<Items key={block.step.id} view={view} block={block} canPaste={canPaste} label={words.label} />
			))}
			{goals.length > 0 && (
				<section className={css.apart} aria-label={words.goals}>
					<h2>
						<Flag aria-hidden size={14} /> {words.goals}
					</h2>
					{goals.map((goal) => (
						<Items
							key={goal.step.id}
							view={view}
							block={goal}
							canPaste={canPaste}
							label={titleOf(goal.step, view.names, view.graph)}
						/>
					))}
				</section>
			)}
			{others.length > 0 && (
				<section className={css.apart} aria-label={words.apart}>
					<h2>{words.apart}</h2>
					{others.map((block) => (
						<Items
							key={block.step.id}
							view={view}
							block={block}
							canPaste={canPaste}
							label={titleOf(block.step, view.names, view.graph)}
						/>
					))}
				</section>
			)}
		</div>
	);
}

/** chainOf returns the blocks that follow one another without a fork, and what the last of them leads to. */
function chainOf(block: Block): { blocks: Block[]; last: Slot | null } {
	const blocks = [block];
	let current = block;
	for (;;) {
		const [onlySlot] = current.slots;
		if (current.slots.length !== 1 || current.joins.length > 0 || !onlySlot) return { blocks, last: null };
		if (onlySlot.kind !== "block") return { blocks, last: onlySlot };
		current = onlySlot.block;
		blocks.push(current);
	}
}

function Items({ view, block, canPaste, label }: { view: View; block: Block; canPaste: boolean; label: string }) {
	const { blocks, last } = chainOf(block);
	return (
		<ol className={css.items} aria-label={label}>
			{blocks.map((block) => (
				<li key={block.step.id}>
					<div className={css.row}>
						<StepButton view={view} step={block.step} />
						<Numbers view={view} step={block.step} />
						<StepMenuButton view={view} step={block.step} canPaste={canPaste} />
					</div>
					{block.slots.length === 1 && block.slots[0] && (
						<>
							<AddButton view={view} place={{ from: block.step.id, label: block.slots[0].label }} />
							<Taken view={view} place={{ from: block.step.id, label: block.slots[0].label }} />
						</>
					)}
					{block.slots.length > 1 && (
						<ul className={css.ways}>
							{block.slots.map((slot) => (
								<li key={slot.label}>
									<p className={css.way}>{labelOf(block.step, slot.label)}</p>
									<AddButton view={view} place={{ from: block.step.id, label: slot.label }} />
									<Taken view={view} place={{ from: block.step.id, label: slot.label }} />
									{slot.kind === "block" ? (
										<Items
											view={view}
											block={slot.block}
											canPaste={canPaste}
											label={words.way({ label: labelOf(block.step, slot.label) })}
										/>
									) : (
										<End view={view} slot={slot} />
									)}
								</li>
							))}
						</ul>
					)}
					{block.joins.map((join) => (
						<Items key={join.step.id} view={view} block={join} canPaste={canPaste} label={words.after} />
					))}
				</li>
			))}
			{last && (
				<li>
					<End view={view} slot={last} />
				</li>
			)}
		</ol>
	);
}

/** End says where a path ends, or which step it continues with. */
export function End({ view, slot }: { view: View; slot: Slot }) {
	if (slot.kind === "end" || slot.kind === "block") return <span className={css.end}>{words.end}</span>;
	const step = stepOf(view.graph, slot.to);
	const text = (slot.kind === "loop" ? words.loop : words.join)({
		number: view.steps.indexOf(slot.to) + 1,
		title: step ? titleOf(step, view.names, view.graph) : "",
	});
	return (
		<button
			type="button"
			className={css.jump}
			onClick={() => document.querySelector<HTMLElement>(`[data-step="${slot.to}"]`)?.focus()}
		>
			{slot.kind === "loop" ? <RotateCcw aria-hidden size={14} /> : <CornerDownRight aria-hidden size={14} />}
			{text}
		</button>
	);
}

import { Suspense, useState } from "react";
import { lazyComponent } from "../../base/lazy";
import { useDisabledReason } from "../../base/session";
import { Menu } from "../../ui/Menu";
import { catalogue } from "../../base/words/catalogue";
import { type Criterion, criteria, segmentName } from "./criteria";

const words = catalogue("broadcasts.makeSegment", { menu: "Create segment of" });

const NameSegment = lazyComponent(() => import("./NameSegment"));

/** MakeSegment makes a segment of those to whom something happened by a broadcast. */
export function MakeSegment({ id, name }: { id: string; name: string }) {
	const disabledReason = useDisabledReason("POST /segments/from-broadcast");
	const [criterion, setCriterion] = useState<Criterion | null>(null);
	return (
		<>
			<Menu
				actions={criteria().map((criterion) => ({
					...criterion,
					disabledReason,
					run: () => setCriterion(criterion.id),
				}))}
			>
				{words.menu}
			</Menu>
			{criterion && (
				<Suspense fallback={null}>
					<NameSegment
						id={id}
						criterion={criterion}
						initial={segmentName(name, criterion)}
						onClose={() => setCriterion(null)}
					/>
				</Suspense>
			)}
		</>
	);
}

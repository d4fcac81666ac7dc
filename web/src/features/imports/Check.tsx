import type { ReactNode } from "react";
import { catalogue } from "../../base/words/catalogue";
import { Card } from "../../ui/Page";
import { Form, type Mapper, Target } from "./Columns";
import { Counts } from "./Counts";
import { Faults } from "./Faults";
import css from "./Import.module.css";
import type { FaultReport, ImportResult, Report } from "./report";

const words = catalogue("imports.check", {
	title: "What would happen",
	help: "Nothing is imported yet.",
	change: "Change",
});

/** Check shows what an import would do, and changes columns where their values do not fit. */
export function Check({
	found: { report, result },
	isCurrent,
	mapper,
	children,
}: {
	found: { report: Report; result: ImportResult };
	isCurrent: boolean;
	mapper: Mapper;
	children: ReactNode;
}) {
	const change = (fault: FaultReport) => {
		const column = report.columns.find((column) => column.key === fault.column);
		return (
			column && (
				<div className={css.controls}>
					<Target column={column} mapper={mapper} label={words.change} />
					<Form column={column} mapper={mapper} />
				</div>
			)
		);
	};
	return (
		<Card title={words.title} actions={<span className={css.muted}>{words.help}</span>}>
			<div className={css.found} aria-busy={!isCurrent} data-old={!isCurrent || undefined}>
				<Counts result={result} would />
				<Faults report={report} action={change} />
			</div>
			{children}
		</Card>
	);
}

import { Download } from "lucide-react";
import { catalogue } from "../base/words/catalogue";
import { type Cell, csvText, download } from "../base/csv";
import { Button } from "./Button";

const words = catalogue("shell.csvButton", { csv: "CSV", label: "Download “{name}” as CSV" });

/** CsvButton saves a table as a file. */
export function CsvButton({ name, header, rows }: { name: string; header: string[]; rows: Cell[][] }) {
	return (
		<Button
			small
			variant="quiet"
			icon={<Download aria-hidden size={14} />}
			aria-label={words.label({ name })}
			onClick={() => download(`${name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-")}.csv`, csvText(header, rows))}
		>
			{words.csv}
		</Button>
	);
}

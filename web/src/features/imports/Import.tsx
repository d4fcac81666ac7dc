import { Upload } from "lucide-react";
import { useState } from "react";
import { useParam } from "../../base/params";
import { to } from "../../base/paths";
import { useDisabledReason } from "../../base/session";
import { catalogue } from "../../base/words/catalogue";
import { Callout, Page } from "../../ui/Page";
import css from "./Import.module.css";
import { ImportJob } from "./ImportJob";
import { type Preset, Wizard } from "./Wizard";

const words = catalogue("imports.page", {
	title: "Import contacts",
	contacts: "Contacts",
	about:
		"A CSV, TSV or text file, an Excel workbook (.xlsx), or a zip archive with one of them. Its first row must name the columns, and one column must be the email address.",
	choose: "Choose a file",
	drop: "or drop it here",
});

type Chosen = { file: File; preset: Preset | null };

/** Import imports contacts from a file: it is chosen, mapped and checked, and then imported by a job. */
export default function Import() {
	const disabledReason = useDisabledReason("POST /contacts/import");
	const [job, setJob] = useParam("job");
	const [chosen, setChosen] = useState<Chosen | null>(null);
	const [over, setOver] = useState(false);
	const choose = (file: File | undefined) => file && setChosen({ file, preset: null });
	return (
		<Page title={words.title} breadcrumbs={[{ name: words.contacts, to: to.contacts() }]} description={words.about}>
			{disabledReason && <Callout>{disabledReason}</Callout>}
			{job && (
				<ImportJob
					id={job}
					onAgain={() => {
						setChosen(null);
						setJob("");
					}}
					onRetry={(file, preset) => {
						setChosen({ file, preset });
						setJob("");
					}}
				/>
			)}
			{!job && !chosen && !disabledReason && (
				<label
					className={css.drop}
					data-over={over || undefined}
					onDragOver={(event) => {
						event.preventDefault();
						setOver(true);
					}}
					onDragLeave={() => setOver(false)}
					onDrop={(event) => {
						event.preventDefault();
						setOver(false);
						choose(event.dataTransfer.files[0]);
					}}
				>
					<Upload aria-hidden size={24} />
					<b>{words.choose}</b>
					<span>{words.drop}</span>
					<input className="visually-hidden" type="file" onChange={(e) => choose(e.target.files?.[0])} />
				</label>
			)}
			{!job && chosen && (
				<Wizard
					key={`${chosen.file.name} ${chosen.file.lastModified} ${chosen.file.size}`}
					{...chosen}
					onStarted={setJob}
					onOther={() => setChosen(null)}
				/>
			)}
		</Page>
	);
}

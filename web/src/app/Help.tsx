import { Dialog } from "../ui/Dialog";
import { catalogue } from "../base/words/catalogue";
import css from "./Help.module.css";
import { outside } from "../base/paths";

const words = catalogue("shell.help", {
	title: "Keyboard shortcuts",
	note: "You can turn off single-key shortcuts in your account. They never act while you type in a field.",
	docs: "API reference",
	combinations: { search: "/ or Ctrl K", go: "g then h c s t b q a r", workspace: "Ctrl 1 to 9" },
	keys: {
		search: "Search, jump to a page, or run an action",
		go: "Go to Home, Contacts, Segments, Templates, Broadcasts, Sequences, Automations, Reports",
		rail: "Collapse or expand the navigation",
		rows: "Next and previous row",
		select: "Select the row; with Shift, a range",
		open: "Open the row",
		peek: "Preview the row without leaving the page",
		save: "Save",
		primary: "Run the page's main action",
		create: "Create a record on this page",
		edit: "Edit this record",
		row: "Open the row's menu",
		undo: "Undo the last change",
		workspace: "Switch to workspace 1 to 9",
		close: "Close what is open, then clear the selection",
		help: "Show this list",
	},
});

const rows = (): [string, string][] => [
	[words.combinations.search, words.keys.search],
	[words.combinations.go, words.keys.go],
	["[", words.keys.rail],
	["j k", words.keys.rows],
	["x", words.keys.select],
	["Enter", words.keys.open],
	["Space", words.keys.peek],
	[".", words.keys.row],
	["c", words.keys.create],
	["e", words.keys.edit],
	["Ctrl S", words.keys.save],
	["Ctrl Enter", words.keys.primary],
	["Ctrl Z", words.keys.undo],
	[words.combinations.workspace, words.keys.workspace],
	["Esc", words.keys.close],
	["?", words.keys.help],
];

/** Help lists the shortcuts. */
export default function Help({ onClose }: { onClose: () => void }) {
	return (
		<Dialog title={words.title} onClose={onClose}>
			<dl className={css.keys}>
				{rows().map(([keys, description]) => (
					<div key={keys}>
						<dt>
							<kbd>{keys}</kbd>
						</dt>
						<dd>{description}</dd>
					</div>
				))}
			</dl>
			<p>{words.note}</p>
			<p>
				<a href={outside.reference} target="_blank" rel="noreferrer">
					{words.docs}
				</a>
			</p>
		</Dialog>
	);
}

import { equals, holds, Random, type Tests } from "../../base/testing";
import { type ColumnSize, fitColumns, gridTemplate, minWidth } from "./fitColumns";

type Column = ColumnSize & { id: string };

const columns: Column[] = [
	{ id: "name" },
	{ id: "status", width: 120 },
	{ id: "sent", width: 160, minWidth: 80 },
	{ id: "opened", width: 160, minWidth: 80, droppable: true },
	{ id: "tags", droppable: true },
];

const fittedColumns = (room: number, all = columns) =>
	fitColumns(all, room).map((column) => (column.width ? `${column.id} ${column.width}` : column.id));

const tests: Tests = {
	"columns keep their widths where there is room for the name"() {
		const allColumns = ["name", "status 120", "sent 160", "opened 160", "tags"];
		equals(fittedColumns(Number.POSITIVE_INFINITY), allColumns);
		equals(fittedColumns(290 + 120 + 160 + 160 + 120), allColumns);
	},
	"columns become narrower before the name does, by the same part of what they can give"() {
		equals(fittedColumns(290 + 120 + 120 + 120 + 120), ["name", "status 120", "sent 120", "opened 120", "tags"]);
		equals(fittedColumns(290 + 120 + 80 + 80 + 120), ["name", "status 120", "sent 80", "opened 80", "tags"]);
		equals(fittedColumns(200 + 120 + 80 + 80 + 120), ["name", "status 120", "sent 80", "opened 80", "tags"]);
	},
	"columns that can be missed go, the last of them first"() {
		equals(fittedColumns(200 + 120 + 80 + 80 + 119), ["name", "status 120", "sent 94", "opened 94"]);
		equals(fittedColumns(200 + 120 + 80 + 79), ["name", "status 120", "sent 80"]);
		equals(fittedColumns(100), ["name", "status 120", "sent 80"], "room for nothing");
		equals(fittedColumns(0, []), []);
	},
	"a column without a width may have a least one"() {
		equals(fittedColumns(250, [{ id: "name" }, { id: "tags", minWidth: 50, droppable: true }]), ["name", "tags"]);
		equals(fittedColumns(249, [{ id: "name" }, { id: "tags", minWidth: 50, droppable: true }]), ["name"]);
	},
	"whatever the columns, they fit, and none goes or shrinks without need"() {
		const random = new Random(12);
		for (let round = 0; round < 1000; round++) {
			const all: Column[] = [
				{ id: "name" },
				...random.list(
					7,
					(i): Column => ({
						id: `c${i}`,
						width: random.of([undefined, 80, 120, 200]),
						minWidth: random.of([undefined, 60, 100, 150]),
						droppable: random.below(2) === 0,
					}),
				),
			];
			const room = 100 + random.below(1200);
			const shown = fitColumns(all, room);
			const neededWidth = (shownColumns: Column[]) =>
				shownColumns.reduce(
					(sum, column) =>
						sum +
						(column.width
							? Math.min(column.width, column.minWidth ?? column.width)
							: (column.minWidth ?? (column.id === "name" ? 200 : 120))),
					0,
				);
			const text = `${JSON.stringify(all)} in ${room}`;
			equals(
				shown.map((column) => column.id),
				all.filter((column) => shown.some((s) => s.id === column.id)).map((column) => column.id),
				`the order of ${text}`,
			);
			const dropped = all.filter((column) => !shown.some((s) => s.id === column.id));
			holds(
				dropped.every((column) => column.droppable),
				`a column that must be seen went: ${text}`,
			);
			holds(minWidth(shown, false) <= room || !shown.some((column) => column.droppable), `it does not fit: ${text}`);
			const [first] = dropped;
			if (first) {
				const with_ = all.filter((column) => column === first || !dropped.includes(column));
				holds(neededWidth(with_) > room, `${first.id} went without need: ${text}`);
			}
			for (const column of shown) {
				const c = all.find((x) => x.id === column.id);
				holds((column.width ?? 0) <= (c?.width ?? 0), `${column.id} became wider: ${text}`);
				holds(
					(column.width ?? 999) >= Math.min(c?.width ?? 0, c?.minWidth ?? c?.width ?? 0),
					`${column.id} is too narrow: ${text}`,
				);
			}
		}
	},
	"the name takes twice the part of what is left"() {
		equals(gridTemplate(columns.slice(0, 3), false), "minmax(200px, 2fr) 120px 160px");
		equals(
			gridTemplate([{}, {}, { minWidth: 50 }], true),
			"40px minmax(200px, 2fr) minmax(120px, 1fr) minmax(50px, 1fr)",
		);
		equals([minWidth(columns, false), minWidth(columns, true)], [760, 800]);
		equals(minWidth([], true), 40);
	},
};

export default tests;

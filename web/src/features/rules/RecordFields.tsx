import { useCollection } from "../../base/collections";
import { catalogue } from "../../base/words/catalogue";
import { Combo, type Option, Picks } from "../../ui/Combo";
import { fieldOptions } from "./fieldOptions";
import type { FieldInfo } from "./fields";

const words = catalogue("rules.records", {
	anyType: "Any",
	types: "Email types",
	categories: "Email categories",
});

// The fields that choose what a condition refers to.

type Field = { label: string; error?: string };
type One = Field & { value: string | undefined; onChange: (value: string | undefined) => void };
type Several = Field & { values: string[]; onChange: (values: string[]) => void };

function ChooseOne({ value, onChange, ...rest }: One & { options: Option[] }) {
	return <Combo autoFocus {...rest} value={value || null} onChange={(id) => onChange(id ?? undefined)} />;
}

export function FieldChoice({
	fields,
	onChange,
	...rest
}: Omit<One, "onChange"> & { fields: FieldInfo[]; onChange: (field: FieldInfo) => void }) {
	return (
		<ChooseOne
			{...rest}
			options={fieldOptions(fields.filter((field) => field.kind !== "list"))}
			onChange={(id) => {
				const field = fields.find((field) => field.field === id);
				if (field) onChange(field);
			}}
		/>
	);
}

export function Lists({ isStatic, ...rest }: Several & { isStatic: boolean }) {
	const segments = useCollection("segments");
	const options = (segments.data?.data ?? [])
		.filter((segment) => (segment.type === "static") === isStatic)
		.map((segment) => ({ id: segment.segment_key, label: segment.name }));
	return <Picks autoFocus {...rest} options={options} />;
}

const useTypes = () =>
	(useCollection("email_types").data?.data ?? []).map((type) => ({ id: type.type_key, label: type.display_name }));

export function Types(props: Several) {
	return <Picks autoFocus {...props} placeholder={words.anyType} options={useTypes()} />;
}

/** Consents chooses what somebody subscribes to: an email type, or a category of them. */
export function Consents({
	type,
	category,
	onChange,
	...rest
}: Field & {
	type: string | undefined;
	category: string | undefined;
	onChange: (part: { email_type_key?: string; category_id?: string }) => void;
}) {
	const categories = useCollection("email_categories");
	const options = [
		...useTypes().map((option) => ({ ...option, group: words.types })),
		...(categories.data?.data ?? []).map(({ id, name }) => ({ id, label: name, group: words.categories })),
	];
	return (
		<ChooseOne
			{...rest}
			options={options}
			value={category ?? type}
			onChange={(id) => {
				const isCategory = options.find((option) => option.id === id)?.group === words.categories;
				onChange({ email_type_key: isCategory ? undefined : id, category_id: isCategory ? id : undefined });
			}}
		/>
	);
}

export function Broadcasts(props: One) {
	const all = useCollection("broadcasts");
	return <ChooseOne {...props} options={(all.data?.data ?? []).map(({ id, name }) => ({ id, label: name }))} />;
}

export function Sequences(props: One) {
	const all = useCollection("sequences");
	return <ChooseOne {...props} options={(all.data?.data ?? []).map(({ id, name }) => ({ id, label: name }))} />;
}

export function Forms(props: One) {
	const all = useCollection("forms");
	return <ChooseOne {...props} options={(all.data?.data ?? []).map(({ slug, name }) => ({ id: slug, label: name }))} />;
}

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Trash2, Upload } from "lucide-react";
import { useRef, useState } from "react";
import { api } from "../../api/client";
import type { AssetRow } from "../../api/schema";
import { useDisabledReason } from "../../base/session";
import { Button, IconButton } from "../../ui/Button";
import { Confirm, Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/Field";
import { Callout } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { bytes } from "../../base/words/formats";
import { explain } from "../../base/words/errors";
import css from "./Assets.module.css";
import { accepted, failureOf, filesOf, hasFiles, localOf, upload } from "./assets";
import { within } from "../../base/queries";
import { assetsQuery } from "./queries";

const words = catalogue("assets.assetPicker", {
	title: "Choose an image",
	search: "Search images",
	upload: "Upload",
	file: "Image file",
	hint: "PNG, JPEG, GIF or WebP, up to 5 MB. Large photos are made smaller. You can also drop or paste one here.",
	public: "Images are public, because recipients' mail programs load them.",
	empty: "No images yet",
	none: "No images match",
	size: "{w} × {h}, {size}",
	remove: "Delete {name}",
	removeTitle: "Delete {name}?",
	removeText: "Emails sent with it will no longer show it. This cannot be undone.",
	delete: "Delete",
});

type Props = {
	onPick: (asset: AssetRow) => void;
	onClose: () => void;
	/** How wide the mail is, in pixels. */
	mailWidth?: number;
};

/** AssetPicker is a dialog that chooses an image of the account, or uploads one. */
export default function AssetPicker({ onPick, onClose, mailWidth }: Props) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /assets");
	const [search, setSearch] = useState("");
	const [dragging, setDragging] = useState(false);
	const [deleting, setDeleting] = useState<AssetRow | null>(null);
	const [problem, setProblem] = useState<string[]>([]);
	const input = useRef<HTMLInputElement>(null);
	const list = useQuery(assetsQuery(search));
	const add = useMutation({
		mutationFn: async (files: File[]) => {
			setProblem([]);
			let last: AssetRow | null = null;
			for (const file of files) {
				try {
					last = await upload(file, mailWidth);
				} catch (error) {
					setProblem((before) => [...before, failureOf(file, error)]);
				}
			}
			await client.invalidateQueries(within("assets"));
			return files.length === 1 ? last : null;
		},
		onSuccess: (created) => created && onPick(created),
	});
	const remove = useMutation({
		mutationFn: (asset: AssetRow) => api("DELETE /assets/{id}", { path: { id: asset.id } }),
		onSuccess: () => {
			setDeleting(null);
			void client.invalidateQueries(within("assets"));
		},
	});
	const uploadFiles = (files: File[]) => {
		if (!disabledReason && files.length > 0) add.mutate(files);
	};
	const rows = list.data?.data ?? [];
	return (
		<Dialog drawer="wide" title={words.title} onClose={onClose}>
			{/* biome-ignore lint/a11y/noStaticElementInteractions: dropping and pasting are ways besides the button */}
			<div
				className={css.drop}
				data-over={dragging || undefined}
				onDragOver={(event) => {
					if (!hasFiles(event.dataTransfer)) return;
					event.preventDefault();
					setDragging(true);
				}}
				onDragLeave={() => setDragging(false)}
				onDrop={(event) => {
					event.preventDefault();
					setDragging(false);
					uploadFiles(filesOf(event.dataTransfer));
				}}
				onPaste={(e) => uploadFiles(filesOf(e.clipboardData))}
			>
				<div className={css.tools}>
					<TextField
						label={words.search}
						hideLabel
						type="search"
						placeholder={words.search}
						value={search}
						onChange={setSearch}
					/>
					<input
						ref={input}
						type="file"
						accept={accepted}
						multiple
						hidden
						aria-label={words.file}
						onChange={(e) => {
							uploadFiles([...(e.target.files ?? [])]);
							e.target.value = ""; // the same file can be chosen again
						}}
					/>
					<Button
						variant="primary"
						icon={<Upload aria-hidden />}
						disabledReason={disabledReason}
						busy={add.isPending}
						onClick={() => input.current?.click()}
					>
						{words.upload}
					</Button>
				</div>
				<p>
					{words.hint} {words.public}
				</p>
				{problem.length > 0 && (
					<Callout tone="danger">
						{problem.map((sentence) => (
							<p key={sentence}>{sentence}</p>
						))}
					</Callout>
				)}
				{list.isPending ? (
					<Skeleton rows={4} height={80} />
				) : list.isError ? (
					<Failure error={list.error} retry={() => void list.refetch()} />
				) : rows.length === 0 ? (
					<Empty title={search ? words.none : words.empty} />
				) : (
					<ul className={css.grid}>
						{rows.map((asset) => (
							<li key={asset.id}>
								<button type="button" className={css.pick} onClick={() => onPick(asset)}>
									<img src={localOf(asset)} alt="" loading="lazy" />
									<b>{asset.name}</b>
								</button>
								<span className={css.foot}>
									{words.size({ w: asset.width, h: asset.height, size: bytes(asset.size) })}
									<IconButton
										small
										label={words.remove({ name: asset.name })}
										icon={<Trash2 aria-hidden />}
										disabledReason={disabledReason}
										onClick={() => setDeleting(asset)}
									/>
								</span>
							</li>
						))}
					</ul>
				)}
			</div>
			{deleting && (
				<Confirm
					title={words.removeTitle({ name: deleting.name })}
					action={words.delete}
					busy={remove.isPending}
					error={remove.error && <p role="alert">{explain(remove.error)}</p>}
					onConfirm={() => remove.mutate(deleting)}
					onClose={() => setDeleting(null)}
				>
					<p>{words.removeText}</p>
				</Confirm>
			)}
		</Dialog>
	);
}
